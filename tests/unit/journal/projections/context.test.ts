/** The fold of the model's context. */
import { describe, expect, it } from 'vitest';
import {
  beginsAnew,
  isUndoAnchor,
  readContext,
  requestMessages,
  type ContextState,
} from '#server/journal/projections/context.ts';
import { defineFeatureProjection } from '#server/journal/projections/feature-projection.ts';
import { event, internal, type CompleteDraft } from '#server/journal/records.ts';
import { estimateText, estimateTools } from '#server/journal/token-estimate.ts';
import { iso } from '#schema/scalars.ts';
import type { ContextMessage, Origin } from '#schema/engine.ts';
import { folded, foldedWith } from './folded.ts';

const MAIN = 'main';
const SUB = 'agent-0';
type Lines = (CompleteDraft | CompleteDraft[])[];

const said = (text: string, origin: Origin | undefined = { kind: 'user' }): ContextMessage => ({
  role: 'user',
  content: [{ type: 'text', text }],
  toolCalls: [],
  ...(origin ? { origin } : {}),
});
const reminder = said('reminder', { kind: 'injection', variant: 'x' });
type Splice = { at?: number; remove?: number; tokens?: number; agent?: string };
const spliced = (
  messages: ContextMessage[],
  { at = 0, remove = 0, tokens = 1, agent = MAIN }: Splice = {},
  x: Parameters<typeof event<'context.spliced'>>[3] = { cause: 'input' },
) => event(agent, 'context.spliced', { start: at, deleteCount: remove, messages, tokens }, x);
const step = (number = 1, agent = MAIN) =>
  event(agent, 'turn.step.started', { turnId: 7, step: number, stepId: `s${number}` });
const call = (id: string) => ({ id, name: 'Bash', arguments: '{}' });
const response = (calls: string[] = [], more: Partial<Parameters<typeof internal<'step.response'>>[2]> = {}) =>
  internal(MAIN, 'step.response', {
    turnId: 7,
    step: 1,
    stepId: 's1',
    parts: [{ type: 'text', text: 'answer' }],
    calls: calls.map(call),
    model: 'm',
    ...more,
  });
const result = (toolCallId: string, more: { isError?: true } = {}, x?: Parameters<typeof event<'tool.result'>>[3]) =>
  event(MAIN, 'tool.result', { turnId: 7, toolCallId, output: `of ${toolCallId}`, ...more }, x);
const undone = event(MAIN, 'context.undone', { turns: 1 });

const context = (...lines: Lines) => readContext(folded(...lines).context, MAIN);
/** The first text of each entry. */
const texts = ({ entries }: ContextState) =>
  entries.map(({ message }) => {
    const [part] = message.content;
    return part?.type === 'text' ? part.text : message.role;
  });

describe('the context of an agent', () => {
  it('is created by the first record that changes it', () => {
    const { context: contexts } = folded(
      event(MAIN, 'warning', { message: 'x' }),
      spliced([said('a')], { agent: SUB }),
    );
    expect([...contexts.agents.keys()]).toEqual([SUB]);
    expect(readContext(contexts, MAIN)).toMatchObject({ entries: [], anchors: [], contextTokens: 0, system: '' });
    expect(contexts.agents.has(MAIN)).toBe(false);
  });

  it('has messages where splices insert and remove them, and the size that the last one states', () => {
    const state = context(
      spliced([said('a'), said('b'), said('c')], { tokens: 30 }),
      spliced([said('x'), said('y')], { at: 1, remove: 1, tokens: 40 }),
    );
    expect(texts(state)).toEqual(['a', 'x', 'y', 'c']);
    expect(state.contextTokens).toBe(40);
    expect(requestMessages(state)).toEqual(state.entries.map(({ message }) => message));
  });

  it('has the messages of a splice of an unknown cause', () => {
    const unknown = event(MAIN, 'context.spliced', { start: 0, deleteCount: 0, messages: [said('a')], tokens: 1 });
    expect(texts(context(unknown))).toEqual(['a']);
  });

  it('is emptied by clear, which also ends the step', () => {
    const state = context(
      spliced([said('a')], { tokens: 30 }),
      step(),
      response(['c'], { anchor: { length: 2, tokens: 50 }, contextTokens: 50 }),
      internal(MAIN, 'context.cleared', {}),
      result('c'),
    );
    expect(state).toMatchObject({ entries: [], anchors: [], barrier: 0, contextTokens: 0, open: undefined });
  });
});

describe('a step', () => {
  it('has one entry, with the answer as soon as there is one, and the results of its calls after it', () => {
    const begun = context(spliced([said('a')]), step());
    expect(begun.entries[1]).toEqual({
      message: { role: 'assistant', content: [], toolCalls: [] },
      turnId: 7,
      step: 1,
    });
    const answered = context(spliced([said('a')]), step(), response(['c', 'd']), result('d'), result('c'));
    expect(answered.entries.slice(1)).toStrictEqual([
      {
        message: { role: 'assistant', content: [{ type: 'text', text: 'answer' }], toolCalls: [call('c'), call('d')] },
        turnId: 7,
        step: 1,
      },
      ...['d', 'c'].map((toolCallId) => ({
        message: { role: 'tool', content: [{ type: 'text', text: `of ${toolCallId}` }], toolCalls: [], toolCallId },
        turnId: 7,
        step: 1,
      })),
    ]);
  });

  it('records failures and notes with the result', () => {
    const { entries } = context(step(), response(['c']), result('c', { isError: true }, { note: 'n' }));
    expect(entries[1]?.message).toMatchObject({ isError: true, note: 'n' });
  });

  it('has the parts of a result that is a list', () => {
    const output = [
      { type: 'text' as const, text: 'a' },
      { type: 'text' as const, text: 'b' },
    ];
    const { entries } = context(
      step(),
      response(['c']),
      event(MAIN, 'tool.result', { turnId: 7, toolCallId: 'c', output }),
    );
    expect(entries[1]?.message.content).toEqual(output);
  });

  it('whose entry was removed meanwhile has results all the same', () => {
    const state = context(spliced([said('a')]), step(), response(['c']), spliced([], { remove: 2 }), result('c'));
    const content = [{ type: 'text', text: 'of c' }];
    expect(state.entries).toStrictEqual([{ message: { role: 'tool', content, toolCalls: [], toolCallId: 'c' } }]);
  });

  it('changes files, instruction files and deliveries only as its results state', () => {
    const { files, agentsMd, delivered } = context(step(), response(['c', 'd']), result('c'), result('d', {}, {}));
    expect([files.size, agentsMd.size, delivered.size]).toEqual([0, 0, 0]);
  });

  it('has no entry for a result that no call waits for', () => {
    expect(texts(context(step(), response(['c']), result('x')))).toEqual(['answer']);
    expect(texts(context(step(), response(['c']), result('c'), result('c')))).toEqual(['answer', 'of c']);
    expect(texts(context(result('c')))).toEqual([]);
    expect(context(response(['c']), result('c')).entries).toEqual([]);
    for (const end of [
      event(MAIN, 'turn.step.completed', { turnId: 7, step: 1, stepId: 's1', finishReason: 'end_turn' }),
      event(MAIN, 'turn.step.interrupted', { turnId: 7, step: 1, stepId: 's1', reason: 'aborted' }),
      event(MAIN, 'turn.step.retrying', {
        turnId: 7,
        step: 1,
        stepId: 's1',
        failedAttempt: 1,
        nextAttempt: 2,
        maxAttempts: 3,
        delayMs: 0,
        errorName: 'e',
        errorMessage: 'm',
      }),
      event(MAIN, 'turn.ended', { turnId: 7, reason: 'completed' }),
    ]) {
      expect([end.type, texts(context(step(), response(['c']), end, result('c')))]).toEqual([end.type, ['answer']]);
    }
  });

  it('whose answer broke off waits for no results', () => {
    const state = context(step(), response(['c'], { partial: true }), result('c'));
    expect(state.entries).toHaveLength(1);
    expect(state.entries[0]?.message.toolCalls).toEqual([]);
  });

  it('is measured by its answer, which may state none of the sizes', () => {
    const lines = [spliced([said('a')], { tokens: 5 }), step()];
    const anchor = { length: 2, tokens: 90 };
    expect(context(...lines, response([], { anchor, contextTokens: 91 }))).toMatchObject({
      anchors: [anchor],
      contextTokens: 91,
    });
    expect(context(...lines, response())).toMatchObject({ anchors: [], contextTokens: 5 });
  });
});

describe('measurements', () => {
  const measured = (length: number) => [step(), response([], { anchor: { length, tokens: 10 * length } })];
  const lines = [spliced([said('a')]), ...measured(2), spliced([said('b')], { at: 2 }), ...measured(4)];
  const lengths = (...more: Lines) => context(...lines, ...more).anchors.map(({ length }) => length);

  it('are valid until a splice changes an entry that they include', () => {
    expect(lengths()).toEqual([2, 4]);
    expect(lengths(spliced([said('c')], { at: 4 }))).toEqual([2, 4]);
    expect(lengths(spliced([], { at: 3, remove: 1 }))).toEqual([2]);
    expect(lengths(spliced([], { at: 2, remove: 1 }))).toEqual([2]);
    expect(lengths(spliced([], { at: 1, remove: 3 }))).toEqual([]);
  });
});

describe('an undo', () => {
  it.each<[Pick<ContextMessage, 'role' | 'origin'>, boolean]>([
    [{ role: 'user' }, true],
    [{ role: 'user', origin: { kind: 'user' } }, true],
    [{ role: 'assistant' }, false],
    [{ role: 'user', origin: { kind: 'injection', variant: 'x' } }, false],
    [{ role: 'user', origin: { kind: 'retry', trigger: 'user-slash' } }, false],
    [
      { role: 'user', origin: { kind: 'skill_activation', activationId: 'a', skillName: 's', trigger: 'user-slash' } },
      true,
    ],
    [
      { role: 'user', origin: { kind: 'skill_activation', activationId: 'a', skillName: 's', trigger: 'model-tool' } },
      false,
    ],
    [
      {
        role: 'user',
        origin: { kind: 'plugin_command', activationId: 'a', pluginId: 'p', commandName: 'c', trigger: 'user-slash' },
      },
      true,
    ],
  ])('stops at %j: %s', (message, expected) => expect(isUndoAnchor(message)).toBe(expected));

  const notice = (notificationId: string) =>
    said('notice', { kind: 'task', taskId: 't', status: 'completed', notificationId });
  const lines = [
    spliced([said('a')]),
    step(),
    response(['c']),
    result('c', {}, { delivered: ['one'], agentsMd: ['/a'], files: [{ path: '/f', mtimeMs: 5 }] }),
    spliced([notice('two')], { at: 3 }),
    spliced([said('b')], { at: 4 }),
    step(2),
    response(['d'], { step: 2 }),
    result('d', {}, { delivered: ['three'], agentsMd: ['/b'], files: [{ path: '/g', mtimeMs: 6 }] }),
    spliced([notice('four')], { at: 7 }),
  ];
  const undo = (at: number, remove: number) => spliced([], { at, remove }, { cause: 'undo' });

  it('removes the deliveries since its anchor, but no file that was read', () => {
    const before = context(...lines);
    expect([...before.delivered]).toEqual(['one', 'two', 'three', 'four']);
    expect([...before.agentsMd]).toEqual(['/a', '/b']);
    const after = context(...lines, [undo(4, 4), undone]);
    expect([...after.delivered]).toEqual(['one', 'two']);
    expect([...after.agentsMd]).toEqual(['/a']);
    expect(Object.fromEntries(after.files)).toEqual({ '/f': 5, '/g': 6 });
    expect(after.undoing).toBeUndefined();
    const first = context(...lines, [undo(0, 8), undone]);
    expect([...first.delivered, ...first.agentsMd]).toEqual([]);
  });

  it('changes nothing without an anchor', () => {
    const state = context(...lines, [undo(5, 3), undone]);
    expect([...state.delivered]).toHaveLength(4);
    expect([...context(...lines, undone).agentsMd]).toEqual(['/a', '/b']);
    // Any other removal is no undo.
    const removed = context(...lines, spliced([], { at: 4, remove: 4 }, { cause: 'remove' }), undone);
    expect([...removed.delivered]).toHaveLength(4);
  });

  it('restores what features have saved', () => {
    const counter = defineFeatureProjection<Map<string, number>, number>({
      name: 'counter',
      initial: () => new Map(),
      apply(state, { agent, type }) {
        if (type === 'tool.result') state.set(agent, (state.get(agent) ?? 0) + 1);
      },
      undo: {
        checkpoint: (state, agent) => state.get(agent) ?? 0,
        restore: (state, agent, saved) => void state.set(agent, saved),
      },
    });
    const plain = defineFeatureProjection({ name: 'plain', initial: () => 1, apply: () => undefined });
    const state = foldedWith([counter, plain], ...lines, [undo(4, 4), undone]);
    expect(counter.of(state.features).get(MAIN)).toBe(1);
    expect(plain.of(state.features)).toBe(1);
  });
});

describe('a compaction', () => {
  const lines = [spliced([said('a'), said('b'), said('c')], { tokens: 100 })];
  const compacted = spliced([said('summary')], { at: 0, remove: 2, tokens: 20 }, { cause: 'compaction' });

  it('is a barrier that no undo passes: entries before it are no anchors any more', () => {
    const anchors = (state: ContextState) => state.entries.map(({ checkpoint }) => checkpoint !== undefined);
    expect(anchors(context(...lines))).toEqual([true, true, true]);
    expect(context(...lines).barrier).toBe(0);
    const after = context(...lines, compacted);
    expect(texts(after)).toEqual(['summary', 'c']);
    expect(anchors(after)).toEqual([false, false]);
    expect(after.barrier).toBe(1);
    expect(anchors(context(...lines, compacted, spliced([said('d'), reminder], { at: 2 })))).toEqual([
      false,
      false,
      true,
      false,
    ]);
  });

  it('sets the displayed size at its end', () => {
    const completed = event(MAIN, 'compaction.completed', {
      result: { summary: '', compactedCount: 2, tokensBefore: 100, tokensAfter: 33 },
    });
    expect(context(...lines, compacted, completed).contextTokens).toBe(33);
  });

  it('removes the reminders: the next request starts without any', () => {
    expect(beginsAnew(context(...lines))).toBe(false);
    expect(beginsAnew(context(...lines, step()))).toBe(false);
    expect(beginsAnew(context(...lines, compacted))).toBe(true);
    expect(beginsAnew(context(...lines, compacted, spliced([said('d')], { at: 2 })))).toBe(true);
    expect(beginsAnew(context(...lines, compacted, step()))).toBe(false);
    expect(beginsAnew(context(...lines, step(), compacted))).toBe(false);
    // A step before the barrier was compacted.
    const all = spliced([said('summary')], { at: 0, remove: 3, tokens: 20 }, { cause: 'compaction' });
    expect(beginsAnew(context(step(), ...lines, all))).toBe(false);
    const kept = spliced([said('summary')], { at: 1, remove: 3, tokens: 20 }, { cause: 'compaction' });
    expect(beginsAnew(context(step(), spliced([said('a'), said('b'), said('c')], { at: 1 }), kept))).toBe(true);
  });
});

describe('a copied context', () => {
  const tools = internal(MAIN, 'agent.tools', { sha256: 'one', text: '[]' });
  const lines = [
    tools,
    spliced([said('a'), said('b')]),
    step(),
    response([], { anchor: { length: 3, tokens: 10 } }),
    spliced([said('c')], { agent: SUB, at: 3, tokens: 12 }, { cause: 'copy', copyOf: MAIN }),
  ];

  it('has the entries, measurements and tools of the original, but none of its anchors', () => {
    const state = readContext(folded(...lines).context, SUB);
    expect(texts(state)).toEqual(['a', 'b', 'answer', 'c']);
    expect(state.entries.map(({ checkpoint }) => checkpoint !== undefined)).toEqual([false, false, false, true]);
    expect(state).toMatchObject({ anchors: [{ length: 3, tokens: 10 }], tools: { sha256: 'one' }, barrier: 0 });
  });

  it('is independent of the original', () => {
    const { context: contexts } = folded(
      ...lines,
      step(2),
      response([], { step: 2, anchor: { length: 4, tokens: 20 } }),
    );
    expect(readContext(contexts, SUB).entries).toHaveLength(4);
    expect(readContext(contexts, SUB).anchors).toHaveLength(1);
    expect(readContext(contexts, MAIN).anchors).toHaveLength(2);
    // A copy of an agent without a context is empty, and has no barrier.
    const empty = folded(
      spliced([said('s')], { agent: SUB }, { cause: 'compaction' }),
      spliced([], { agent: SUB }, { cause: 'copy', copyOf: 'none' }),
    );
    expect(readContext(empty.context, SUB)).toMatchObject({ entries: [], barrier: 0 });
    expect(empty.context.agents.has('none')).toBe(false);
  });
});

describe('the request', () => {
  it('has the last rendered system prompt, and the sections of the first', () => {
    const rendered = (text: string, frozen?: { skills: string; plugins: string }) =>
      internal(MAIN, 'agent.prompt', { text, sha256: `sha of ${text}`, cause: 'bound', ...(frozen ? { frozen } : {}) });
    const frozen = { skills: 's', plugins: 'p' };
    expect(context(rendered('a', frozen), rendered('b'))).toMatchObject({
      system: 'b',
      systemSha256: 'sha of b',
      frozen,
    });
    expect(context(rendered('a'))).not.toHaveProperty('frozen');
  });

  it('has the last value of each setting; another runtime has other files', () => {
    const read = result('c', {}, { files: [{ path: '/f', mtimeMs: 5 }] });
    const set = (fields: Parameters<typeof internal<'agent.config'>>[2]) => internal(MAIN, 'agent.config', fields);
    const state = context(set({ model: 'm', thinkingEffort: 'low' }), read, set({ thinkingEffort: 'high' }));
    expect(state.config).toStrictEqual({ model: 'm', thinkingEffort: 'high' });
    expect([...state.files]).toEqual([['/f', 5]]);
    expect([...context(read, set({ runtimeId: 'other' })).files]).toEqual([]);
    // The client that changed the mode is no setting.
    expect(context(set({ permission: 'auto', by: { client_name: 'page' } })).config).toStrictEqual({
      permission: 'auto',
    });
  });

  it('has the bound profile, and the tools that the servers offered last', () => {
    const bound = { profile: 'coder', tools: '*' as const };
    const offered = (serverName: string, hash: string) => ({ serverName, hash, text: '[]', enabledNames: [] });
    const state = context(
      internal(MAIN, 'agent.bound', bound),
      internal(MAIN, 'mcp.tools', offered('x', 'one')),
      internal(MAIN, 'mcp.tools', offered('y', 'two')),
      internal(MAIN, 'mcp.tools', offered('x', 'three')),
    );
    expect(state.bound).toStrictEqual(bound);
    expect(Object.fromEntries(state.mcpTools)).toStrictEqual({ x: offered('x', 'three'), y: offered('y', 'two') });
  });

  it('has the size of its tools, which old journals list', () => {
    const tool = { name: 'Bash', description: 'runs', parameters: {} };
    const text = JSON.stringify([tool]);
    expect(context(internal(MAIN, 'agent.tools', { sha256: 'x', text })).tools).toEqual({
      sha256: 'x',
      tokens: estimateText(text),
    });
    expect(context(internal(MAIN, 'agent.tools', { sha256: 'y', tools: [tool] })).tools).toEqual({
      sha256: 'y',
      tokens: estimateTools([tool]),
    });
    expect(context(internal(MAIN, 'agent.tools', { sha256: 'z' })).tools).toEqual({
      sha256: 'z',
      tokens: estimateTools([]),
    });
  });
});

describe('rules that approvals remember', () => {
  const resolved = (x?: { rule?: string; dir?: string }, agent = MAIN) =>
    event(agent, 'event.approval.resolved', { approval_id: 'a', decision: 'approved', resolved_at: iso(0) }, x);

  it('are those of the session, each a single time for a directory', () => {
    const { context: contexts } = folded(
      resolved(),
      resolved({}),
      resolved({ rule: 'Read' }),
      resolved({ rule: 'Bash(ls)', dir: '/a' }, SUB),
      resolved({ rule: 'Bash(ls)', dir: '/b' }),
      resolved({ rule: 'Bash(ls)', dir: '/a' }),
      resolved({ rule: 'Bash(rm)', dir: '/a' }),
      resolved({ rule: 'Read' }, SUB),
    );
    const rules = [
      { rule: 'Read' },
      { rule: 'Bash(ls)', dir: '/a' },
      { rule: 'Bash(ls)', dir: '/b' },
      { rule: 'Bash(rm)', dir: '/a' },
    ];
    for (const agent of [MAIN, SUB, 'agent-not-created']) {
      expect(readContext(contexts, agent).rules).toStrictEqual(rules);
    }
  });
});

it('tools disabled for the session are those of agents created later, too', () => {
  const { context: contexts } = folded(
    internal(MAIN, 'session.tools', { disabled: ['Bash'] }),
    spliced([said('a')], { agent: SUB }),
  );
  expect(readContext(contexts, SUB).disabledTools).toEqual(['Bash']);
  expect(readContext(folded().context, MAIN).disabledTools).toEqual([]);
});
