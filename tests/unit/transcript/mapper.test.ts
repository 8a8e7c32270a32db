/** Operations of records on a transcript. */
import { mkdir, copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#server/clock.ts';
import { features } from '#server/features/features.ts';
import { foldJournal } from '#server/journal/cold-fold.ts';
import { event, internal, unsent, type JournalRecord } from '#server/journal/records.ts';
import { createBlobStore } from '#server/journal/blobs.ts';
import { BlobText } from '#server/journal/texts.ts';
import { foldRecord, startTranscripts, transcriptProjection, type TranscriptFold } from '#server/transcript/fold.ts';
import { createLiveTranscripts } from '#server/transcript/live.ts';
import { createMapper } from '#server/transcript/mapper.ts';
import { createOpJournals } from '#server/transcript/op-journal.ts';
import { readPage } from '#server/transcript/reads.ts';
import { readPlans } from '#server/transcript/plans.ts';
import type { ContextMessage, Part } from '#schema/engine.ts';
import { leaseHolder } from '#support/lease-holder.ts';
import { openLog, SESSION_ID, temporaryFolder } from '#support/session-logs.ts';

const mapper = createMapper(features);
const MAIN = 'main';
const T = 1_000;
const AT = new Date(T).toISOString();

let fold: TranscriptFold;
beforeEach(() => {
  fold = startTranscripts({ session_id: SESSION_ID });
});

const tell = (...records: JournalRecord[]) => records.flatMap((record) => foldRecord(fold, mapper, record, T));
const main = () => fold.agents.get(MAIN)?.state;
const source = () => ({ fold, load: createBlobStore('/nowhere').load });

const turn = (turnId = 0, more: object = {}) =>
  event(MAIN, 'turn.started', { turnId, origin: { kind: 'user' }, prompt: 'Hi', ...more });
const step = (number: number, turnId = 0) =>
  event(MAIN, 'turn.step.started', { turnId, step: number, stepId: `s${number}` });
const answer = (number: number, parts: Part[], calls: string[] = []) =>
  internal(MAIN, 'step.response', {
    turnId: 0,
    step: number,
    stepId: `s${number}`,
    parts,
    calls: calls.map((id) => ({ id, name: 'Bash', arguments: '{}' })),
    model: 'm1',
  });
const entering = (message: Partial<ContextMessage>) =>
  event(
    MAIN,
    'context.spliced',
    { start: 0, deleteCount: 0, messages: [{ role: 'user', content: [], toolCalls: [], ...message }], tokens: 3 },
    { cause: 'input', enters: 'step', attachments: [{ mediaType: 'image/png' }] },
  );
const retrying = (number: number) =>
  event(MAIN, 'turn.step.retrying', {
    turnId: 0,
    step: number,
    stepId: `s${number}`,
    failedAttempt: 1,
    nextAttempt: 2,
    maxAttempts: 3,
    delayMs: 5,
    errorName: 'E',
    errorMessage: 'no luck',
  });
const firstTurn = () => main()?.items[0];

describe('turns', () => {
  it.each([
    [{ kind: 'user' }, 'user', 'Hi'],
    [{ kind: 'system_trigger', name: 'subagent' }, 'other', undefined],
    [{ kind: 'task', taskId: 'bash-1', status: 'completed', notificationId: 'n' }, 'task', undefined],
    [{ kind: 'cron_missed', count: 2 }, 'cron', 'from x'],
    [{ kind: 'hook_result', event: 'Stop' }, 'hook', undefined],
    [{ kind: 'compaction_summary' }, 'compaction', undefined],
    [{ kind: 'retry' }, 'other', undefined],
  ] as const)('of origin %j', (origin, kind, prompt) => {
    tell(event(MAIN, 'turn.started', { turnId: 0, origin, prompt: 'Hi' }, { text: 'from x' }));
    expect(firstTurn()).toMatchObject({ origin: { kind, payload: origin }, ...(prompt ? { prompt } : {}) });
    expect('prompt' in (firstTurn() ?? {})).toBe(prompt !== undefined);
  });

  it('have the media that opened them, and retain all content when they end', () => {
    const opened = event(
      MAIN,
      'turn.started',
      { turnId: 3, origin: { kind: 'user' }, prompt: '' },
      { attachments: [{ mediaType: 'image/png' }, { mediaType: 'video/*' }] },
    );
    tell(opened, event(MAIN, 'turn.ended', { turnId: 3, reason: 'blocked', durationMs: 7 }));
    expect(firstTurn()).toEqual({
      kind: 'turn',
      turnId: 't3',
      ordinal: 3,
      state: 'failed',
      origin: { kind: 'user', payload: { kind: 'user' } },
      attachmentIds: ['t3.att1', 't3.att2'],
      startedAt: AT,
      endedAt: AT,
      durationMs: 7,
      steps: [],
    });
    expect(main()?.attachments.get('t3.att2')).toEqual({ attachmentId: 't3.att2', mediaType: 'video/*' });
  });

  it('that the program aborts have no marker', () => {
    tell(turn(), event(MAIN, 'turn.ended', { turnId: 0, reason: 'cancelled', interruptReason: 'aborted' }));
    expect(main()?.items).toHaveLength(1);
  });
});

describe('steps', () => {
  it('join texts, without empty parts, and number them after the entered messages', () => {
    tell(
      turn(),
      entering({
        content: [
          { type: 'text', text: 'also ' },
          { type: 'text', text: 'this' },
        ],
        origin: { kind: 'user' },
      }),
    );
    const ops = tell(
      step(1),
      answer(
        1,
        [
          { type: 'think', think: '' },
          { type: 'text', text: 'a' },
          { type: 'think', think: '' },
          { type: 'text', text: ' ' },
          { type: 'think', think: 'hm' },
        ],
        ['c1'],
      ),
    );
    expect(ops.map(({ op }) => op)).toEqual([
      'step.upsert',
      'attachment.upsert',
      'frame.upsert',
      'frame.upsert',
      'frame.upsert',
      'frame.upsert',
    ]);
    expect(firstTurn()).toMatchObject({
      steps: [
        {
          frames: [
            { frameId: 't0.1.f1', role: 'user', text: 'also this', attachmentIds: ['t0.att1'] },
            { frameId: 't0.1.f2', role: 'assistant', text: 'a ' },
            { frameId: 't0.1.f3', kind: 'thinking', text: 'hm' },
            { frameId: 't0.1.c1', kind: 'tool', name: 'Bash', state: 'running' },
          ],
        },
      ],
    });
  });

  it('include a notification by its title and body, and no reminder', () => {
    const fields = {
      notificationType: 'task.completed',
      severity: 'info' as const,
      sourceKind: 'background_task' as const,
    };
    const origin = { kind: 'task' as const, taskId: 'bash-1', status: 'completed', notificationId: 'n' };
    tell(
      turn(),
      event(MAIN, 'task.notified', { ...fields, title: 'Build', body: 'All good', sourceId: 'bash-1' }),
      entering({ content: [{ type: 'text', text: '<notification>' }], origin }),
      entering({ content: [{ type: 'text', text: 'psst' }], origin: { kind: 'injection', variant: 'date' } }),
      step(1),
    );
    expect(firstTurn()).toMatchObject({
      steps: [{ frames: [{ role: 'user', text: 'Build\nAll good', taskId: 'bash-1' }] }],
    });
  });

  it('that wait for a retry fail with the next attempt, or are interrupted', () => {
    tell(turn(), step(1), retrying(1));
    expect(firstTurn()).toMatchObject({
      steps: [{ state: 'running', retry: { errorMessage: 'no luck', nextAttempt: 2 } }],
    });
    tell(step(2), retrying(2));
    expect(firstTurn()).toMatchObject({
      steps: [{ state: 'failed', endReason: 'error', endMessage: 'no luck' }, { state: 'running' }],
    });
    tell(
      event(MAIN, 'turn.step.interrupted', { turnId: 0, step: 2, stepId: 's2', reason: 'aborted', message: 'stop' }),
    );
    const steps = firstTurn()?.kind === 'turn' ? firstTurn() : undefined;
    expect(steps).toMatchObject({ steps: [{}, { state: 'interrupted', endReason: 'aborted', endMessage: 'stop' }] });
    expect(JSON.stringify(steps)).not.toContain('retry');
  });

  it('that have ended are unchanged at the step limit; an open one ends with its turn', () => {
    const limit = event(MAIN, 'turn.step.interrupted', { turnId: 0, step: 1, reason: 'max_steps' });
    tell(
      turn(),
      step(1),
      answer(1, []),
      event(MAIN, 'turn.step.completed', { turnId: 0, step: 1, stepId: 's1', finishReason: 'end_turn' }),
    );
    expect(tell(limit)).toEqual([]);
    tell(step(2), answer(2, [], ['c2']), event(MAIN, 'turn.ended', { turnId: 0, reason: 'failed' }));
    expect(firstTurn()).toMatchObject({
      steps: [{ state: 'completed' }, { state: 'interrupted', frames: [{ toolCallId: 'c2', state: 'error' }] }],
    });
  });

  it('contain long texts as references, also as parts of a text', async () => {
    const long = new BlobText('a'.repeat(64), 20_000);
    const record = internal(MAIN, 'step.response', {
      turnId: 0,
      step: 1,
      stepId: 's1',
      parts: [
        { type: 'text', text: 'see: ' },
        { type: 'text', text: long },
      ],
      calls: [],
      model: 'm1',
    });
    tell(turn(), step(1), record);
    expect(firstTurn()).toMatchObject({ steps: [{ frames: [{ text: ['see: ', long] }] }] });
  });
});

describe('facts of an agent', () => {
  const facts = () => main()?.meta.agent;

  it('are sent when they change, and never removed', () => {
    tell(internal(MAIN, 'agent.config', { model: 'm1', maxContextTokens: 100, permission: 'manual' }));
    expect(tell(internal(MAIN, 'agent.config', { model: 'm1' }))).toEqual([]);
    const spliced = { start: 0, deleteCount: 0, messages: [] };
    tell(event(MAIN, 'context.spliced', { ...spliced, tokens: 50 }));
    expect(facts()).toEqual({
      model: 'm1',
      maxContextTokens: 100,
      permission: 'manual',
      contextTokens: 50,
      contextUsage: 0.5,
    });
    tell(
      internal(MAIN, 'agent.config', { maxContextTokens: null }),
      event(MAIN, 'context.spliced', { ...spliced, tokens: 70 }),
    );
    expect(facts()).toMatchObject({ maxContextTokens: 100, contextTokens: 70, contextUsage: 0.5 });
  });

  it('include the usage of the turn only while kept up to date for readers', () => {
    const usage = { inputOther: 1, output: 2, inputCacheRead: 3, inputCacheCreation: 4 };
    const spent = internal(MAIN, 'usage.recorded', { model: 'm1', usage, scope: 'turn', purpose: 'x' });
    tell(spent);
    expect(facts()).toEqual({ usage: { byModel: { m1: usage }, total: usage } });
    const agent = fold.agents.get(MAIN);
    if (agent) agent.live = true;
    tell(turn(), spent);
    expect(facts()?.usage?.currentTurn).toEqual(usage);
  });
});

describe('the roster', () => {
  it('lists main first, then the others in order of creation, with archived ones marked', () => {
    const session = { id: SESSION_ID } as never;
    tell(
      event(MAIN, 'event.session.created', { session }, { titleKind: 'replaceable' }),
      event('agent-1', 'agent.created', {}, { kind: 'sub', parentAgentId: MAIN, label: 'one' }),
      event('agent-1', 'agent.disposed', {}, { reason: 'evicted' }),
    );
    const sub = { agentId: 'agent-1', type: 'sub', parentAgentId: MAIN, label: 'one', createdAt: AT };
    expect([...fold.roster.values()]).toEqual([
      { agentId: MAIN, type: 'main', createdAt: AT },
      { ...sub, disposedAt: AT },
    ]);
    tell(event('agent-1', 'agent.created', {}));
    expect([...fold.roster.values()][1]).toEqual(sub);
  });
});

describe('notices', () => {
  it('that are too long retain their small members', () => {
    tell(event(MAIN, 'warning', { message: 'x'.repeat(70_000), code: 'c' }));
    expect(firstTurn()).toMatchObject({ marker: 'notice', payload: { truncated: true, level: 'warning' } });
  });
});

describe('plans', () => {
  const call = (output: string, display?: object): JournalRecord[] => [
    turn(),
    step(1),
    internal(MAIN, 'step.response', {
      turnId: 0,
      step: 1,
      stepId: 's1',
      parts: [],
      calls: [{ id: 'c1', name: 'ExitPlanMode', arguments: '{}' }],
      model: 'm1',
    }),
    event(MAIN, 'tool.call.started', {
      turnId: 0,
      toolCallId: 'c1',
      name: 'ExitPlanMode',
      args: {},
      ...(display ? { display: display as never } : {}),
    }),
    event(MAIN, 'tool.result', { turnId: 0, toolCallId: 'c1', output }),
  ];
  const review = { kind: 'plan_review', plan: '1. Go', path: '/p.md', options: [{ label: 'A' }, { label: '' }] };

  it("are set while the main agent's plan mode is on; each change is a marker", () => {
    const fields = { id: 'calm-river', version: 2, path: '/p.md', sha256: 'a', bytes: 5 };
    const revision = (agent: string) => event(agent, 'plan.revision', fields);
    const entered = (agent: string) => internal(agent, 'plan.entered', { id: 'calm-river', trigger: 'tool' });
    const at = { kind: 'marker', at: AT };
    const marker = (markerId: string, name: string, payload: object) => ({
      op: 'marker.upsert',
      item: { ...at, markerId, marker: name, payload },
    });
    const set = (plan: object | null) => ({ op: 'meta.merge', meta: { modes: { plan } } });
    expect(tell(entered(MAIN))).toEqual([set({}), marker('m1', 'plan.enter', { agentId: MAIN, id: 'calm-river' })]);
    expect(main()?.meta.modes).toEqual({ plan: {} });
    expect(tell(revision(MAIN))).toEqual([
      marker('m2', 'plan.revision', { ...fields, agentId: MAIN }),
      set({ reviewPath: '/p.md', version: 2 }),
    ]);
    expect(tell(internal(MAIN, 'plan.left', { how: 'cancel' }))).toEqual([
      set(null),
      marker('m3', 'plan.exit', { agentId: MAIN }),
    ]);
    expect(main()?.meta).not.toHaveProperty('modes');
    // A plan that is recorded after the mode was left.
    expect(tell(revision(MAIN))).toEqual([marker('m4', 'plan.revision', { ...fields, agentId: MAIN })]);
    expect(tell(entered('agent-0'), revision('agent-0'))).toEqual([
      marker('m1', 'plan.enter', { agentId: 'agent-0', id: 'calm-river' }),
      marker('m2', 'plan.revision', { ...fields, agentId: 'agent-0' }),
    ]);
  });

  it('are read from the review, the display, or the result', async () => {
    tell(...call('Plan saved to: /q.md\n## Approved Plan:\n\n2. Stay\n'));
    expect(await readPlans(source(), MAIN)).toEqual({
      agent_id: MAIN,
      plans: [{ tool_call_id: 'c1', turn_id: 't0', source: 'output', plan: '2. Stay', path: '/q.md' }],
    });
    fold = startTranscripts({ session_id: SESSION_ID });
    tell(...call('x', review));
    const shown = { plan: '1. Go', path: '/p.md', options: [{ label: 'A' }] };
    expect((await readPlans(source(), MAIN, 'c1')).plans).toEqual([
      { tool_call_id: 'c1', turn_id: 't0', source: 'display', ...shown },
    ]);
    const asked = {
      session_id: SESSION_ID,
      agent_id: MAIN,
      tool_call_id: 'c1',
      tool_name: 'ExitPlanMode',
      action: 'Review',
    };
    tell(
      event(MAIN, 'event.approval.requested', {
        approval_id: 'a1',
        ...asked,
        tool_input_display: review as never,
        created_at: AT,
        expires_at: AT,
      }),
      event(MAIN, 'event.approval.resolved', {
        approval_id: 'a1',
        decision: 'approved',
        selected_label: 'A',
        feedback: '',
        resolved_at: AT,
      }),
    );
    expect((await readPlans(source(), MAIN)).plans).toEqual([
      {
        tool_call_id: 'c1',
        turn_id: 't0',
        source: 'interaction',
        ...shown,
        review: { state: 'approved', selected_option: 'A' },
      },
    ]);
    fold = startTranscripts({ session_id: SESSION_ID });
    tell(...call('nothing of the kind'));
    expect((await readPlans(source(), MAIN, 'c1')).plans).toEqual([]);
    await expect(readPlans(source(), MAIN, 'c9')).rejects.toMatchObject({ code: 40416 });
  });
});

describe('tasks in the background', () => {
  const info = {
    taskId: 'bash-00000001',
    description: 'Build it',
    status: 'running' as const,
    detached: true,
    startedAt: T,
    endedAt: null,
    kind: 'process' as const,
    command: 'make',
    pid: 7,
    exitCode: null,
    parentToolCallId: 'c1',
  };
  const started = event(MAIN, 'task.started', { info });
  const ended = (status: 'completed' | 'killed', outputTail = 'built') =>
    event(MAIN, 'task.terminated', { info: { ...info, status, endedAt: T + 500 } }, { outputTail });

  it('are entities, with a reference in the timeline where they began, and at their call', () => {
    tell(turn(), step(1), answer(1, [], ['c1']));
    const task = { taskId: info.taskId, kind: 'shell', description: 'Build it', startedAt: AT, detached: true };
    expect(tell(started)).toEqual([
      { op: 'task.upsert', task: { ...task, state: 'running', outputTail: '' } },
      {
        op: 'taskref.upsert',
        item: { kind: 'taskref', refId: 'ref-bash-00000001', taskId: 'bash-00000001', at: AT },
      },
      expect.objectContaining({ op: 'frame.upsert', frame: expect.objectContaining({ taskId: 'bash-00000001' }) }),
    ]);
    const endedAt = new Date(T + 500).toISOString();
    expect(tell(ended('completed'))).toEqual([
      { op: 'task.upsert', task: { ...task, state: 'completed', endedAt, outputTail: 'built' } },
    ]);
    tell(ended('killed', 'no'));
    expect(main()?.tasks.get(info.taskId)?.state).toBe('completed');
  });

  it('questions have the kind other; one with an unknown call has no frame', () => {
    const { command: _command, pid: _pid, exitCode: _code, parentToolCallId: _call, ...base } = info;
    const question = { ...base, kind: 'question' as const, questionCount: 1, toolCallId: 'c9' };
    const ops = tell(event(MAIN, 'task.started', { info: question }));
    expect(ops.map(({ op }) => op)).toEqual(['task.upsert', 'taskref.upsert']);
    expect(main()?.tasks.get(info.taskId)?.kind).toBe('other');
  });

  it('that ended before a step are reported in that step', () => {
    tell(turn(), started, ended('completed'));
    const origin = { kind: 'task', taskId: info.taskId, status: 'completed', notificationId: 'n' } as const;
    const fields = { notificationType: 'task.completed', title: 'Ended', body: 'It has.', severity: 'info' } as const;
    expect(
      tell(event(MAIN, 'task.notified', { ...fields, sourceKind: 'background_task', sourceId: info.taskId })),
    ).toEqual([]);
    const ops = tell(entering({ origin }), step(1));
    expect(ops).toContainEqual(
      expect.objectContaining({
        op: 'frame.upsert',
        frame: expect.objectContaining({ role: 'user', text: 'Ended\nIt has.', taskId: info.taskId }),
      }),
    );
  });
});

describe('of files', () => {
  let root: string;
  let remove: () => Promise<void>;
  beforeEach(async () => ({ path: root, remove } = await temporaryFolder()));
  afterEach(() => remove());

  it('the worked journal of a killed server is settled', async () => {
    await mkdir(join(root, 'session'));
    await copyFile(
      join(import.meta.dirname, '../journal/fixtures/worked.ndjson'),
      join(root, 'session', 'journal.ndjson'),
    );
    const projection = transcriptProjection(mapper);
    const { state, blobs } = await foldJournal({
      dir: join(root, 'session'),
      sessionId: SESSION_ID,
      holder: leaseHolder(),
      projections: [projection],
    });
    const page = await readPage({ fold: projection.of(state.features), load: blobs.load }, MAIN, { size: 20 });
    expect(page.items).toMatchObject([
      {
        turnId: 't0',
        state: 'completed',
        steps: [{ frames: [{ text: 'Check first.' }, {}, { approvalId: 'approval_A1', output: 'hello\n' }] }, {}],
      },
      {
        turnId: 't1',
        state: 'cancelled',
        steps: [
          {
            state: 'interrupted',
            frames: [{}, { toolCallId: 'call_2', state: 'error' }, { toolCallId: 'call_3', state: 'error' }],
          },
        ],
      },
      { marker: 'interruption', payload: { turnId: 1, reason: 'server_stopped' } },
    ]);
    expect(page.interactions.at(-1)).toMatchObject({ interactionId: 'approval_A2', state: 'cancelled' });
    expect(page.interactions.at(-1)).not.toHaveProperty('response');
    expect(page.pending_interactions).toEqual([]);
  });

  it('live ones continue above their earlier numbers when they are opened again', async () => {
    const { log } = await openLog(join(root, 'session'));
    await log.claim();
    log.append([turn()]);
    const deps = { log, mapper, journals: createOpJournals(), clock: systemClock, unrecorded: () => [] };
    const live = createLiveTranscripts(deps);
    const opened = await live.open();
    expect(await live.open()).toBe(opened);
    const base = opened.seq(MAIN);
    log.append([step(1)]);
    expect(opened.seq(MAIN)).toBe(base + 1);
    live.close();
    await Promise.resolve();
    // After `close`: the recorded state, without numbers.
    expect((await live.open()).seq(MAIN)).toBe(0);
    log.append([unsent(answer(1, [{ type: 'text', text: 'a' }]))]);
    expect(opened.fold.agents.get(MAIN)?.state.items[0]).toMatchObject({ steps: [{ frames: [] }] });
    const again = await createLiveTranscripts(deps).open();
    expect(again.seq(MAIN)).toBeGreaterThan(base + 1);
    expect(again.since(MAIN, base + 1)).toBeUndefined();
    expect(again.fold.agents.get(MAIN)?.state.items[0]).toMatchObject({ steps: [{ frames: [{ text: 'a' }] }] });
    await log.close();
  });
});

describe('settings that changed while a command ran', () => {
  const changed = (message: string) => event(MAIN, 'warning', { message, code: 'settings-changed-during-command' });

  it('are facts in addition to the marker; other warnings are not', () => {
    tell(changed('One'), event(MAIN, 'warning', { message: 'Other', code: 'other' }), changed('Two'));
    expect(main()?.items.map((item) => item.kind)).toEqual(['marker', 'marker', 'marker']);
    expect(main()?.meta.settingsChanges).toEqual([
      { id: '1', message: 'One', at: AT },
      { id: '2', message: 'Two', at: AT },
    ]);
  });

  it('are the newest 50, with continuing ids', () => {
    for (let at = 1; at <= 60; at += 1) tell(changed(`No. ${at}`));
    const changes = main()?.meta.settingsChanges ?? [];
    expect(changes).toHaveLength(50);
    expect(changes.map(({ id }) => Number(id))).toEqual(Array.from({ length: 50 }, (_, at) => at + 11));
  });
});
