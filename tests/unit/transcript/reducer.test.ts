/** Operations on a transcript's state. */
import assert from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import { transcriptOpSchema, type TranscriptOp } from '#schema/rest/transcript-ops.ts';
import { applyOps } from '#server/transcript/reducer/apply.ts';
import { appended } from '#server/transcript/reducer/append.ts';
import { emptyTranscript, itemId, type TranscriptState } from '#server/transcript/reducer/state.ts';
import { seeded } from '#support/random.ts';
import { listed, stateOfOps } from '#support/transcripts.ts';
import { expectWellFormed } from '#support/lawful-transcripts.ts';

type OpOf<K extends TranscriptOp['op']> = Extract<TranscriptOp, { op: K }>;

const turn = (ordinal: number, more: Partial<OpOf<'turn.upsert'>['turn']> = {}): TranscriptOp => ({
  op: 'turn.upsert',
  turn: { kind: 'turn', turnId: `t${ordinal}`, ordinal, state: 'running', origin: { kind: 'user' }, ...more },
});
const step = (turnId: string, ordinal: number, more: Partial<OpOf<'step.upsert'>['step']> = {}): TranscriptOp => ({
  op: 'step.upsert',
  turnId,
  step: { kind: 'step', stepId: `${turnId}.${ordinal}`, turnId, ordinal, state: 'running', ...more },
});
const text = (stepId: string, number: number, written: string): TranscriptOp => ({
  op: 'frame.upsert',
  turnId: stepId.split('.')[0] ?? '',
  stepId,
  frame: { kind: 'text', frameId: `${stepId}.f${number}`, role: 'assistant', text: written },
});
const call = (stepId: string, toolCallId: string): TranscriptOp => ({
  op: 'frame.upsert',
  turnId: stepId.split('.')[0] ?? '',
  stepId,
  frame: { kind: 'tool', frameId: `${stepId}.${toolCallId}`, toolCallId, name: 'Bash', state: 'running' },
});
const piece = (stepId: string, number: number, offset: number, written: string): TranscriptOp => ({
  op: 'append',
  target: { type: 'frame', turnId: stepId.split('.')[0] ?? '', stepId, frameId: `${stepId}.f${number}` },
  offset,
  text: written,
});
const marker = (markerId: string, beforeTurn?: number): TranscriptOp => ({
  op: 'marker.upsert',
  item: { kind: 'marker', markerId, marker: 'notice' },
  ...(beforeTurn === undefined ? {} : { beforeTurn }),
});
const asked = (interactionId: string, state: 'pending' | 'approved', toolCallId?: string): TranscriptOp => ({
  op: 'interaction.upsert',
  interaction: {
    interactionId,
    interactionKind: 'approval',
    state,
    ...(toolCallId === undefined ? {} : { toolCallId }),
  },
});

const order = ({ items }: TranscriptState) => items.map(itemId);
const textOf = (state: TranscriptState, stepId: string) => {
  const found = state.byId.get(stepId.split('.')[0] ?? '');
  const frames = found?.kind === 'turn' ? found.steps.find((one) => one.stepId === stepId)?.frames : undefined;
  return frames?.map((frame) => ('text' in frame ? frame.text : frame.frameId));
};

describe('turns, steps and frames', () => {
  it('are ordered by ordinal, regardless of the order of operations', () => {
    const state = stateOfOps([turn(10), turn(2), turn(5), step('t5', 2), step('t5', 1)]);
    expect(order(state)).toEqual(['t2', 't5', 't10']);
    expect(state.byId.get('t5')).toMatchObject({ steps: [{ stepId: 't5.1' }, { stepId: 't5.2' }] });
  });

  it('retain their content when their header is replaced', () => {
    const ops = [
      turn(0, { prompt: 'Hi' }),
      step('t0', 1),
      text('t0.1', 1, 'Hello'),
      step('t0', 1, { state: 'completed' }),
    ];
    const state = stateOfOps([...ops, turn(0, { state: 'completed' })]);
    expect(textOf(state, 't0.1')).toEqual(['Hello']);
    // A header is replaced completely.
    expect(state.byId.get('t0')).not.toHaveProperty('prompt');
  });

  it('are created without details by an operation on their content', () => {
    const state = stateOfOps([text('t7.3', 1, 'late'), turn(9)]);
    expect(state.items).toMatchObject([
      {
        turnId: 't7',
        ordinal: 7,
        state: 'running',
        origin: { kind: 'other' },
        steps: [{ ordinal: 3, state: 'running' }],
      },
      { turnId: 't9' },
    ]);
  });
});

describe('markers', () => {
  it('are at the end, or before a turn', () => {
    const state = stateOfOps([marker('m1'), turn(0), marker('m2'), turn(1), turn(3), marker('m3', 2), marker('m4', 9)]);
    expect(order(state)).toEqual(['m1', 't0', 'm2', 't1', 'm3', 't3', 'm4']);
    applyOps(state, [{ op: 'marker.upsert', item: { kind: 'marker', markerId: 'm2', marker: 'undo' } }]);
    expect(order(state)[2]).toBe('m2');
    expect(state.items[2]).toMatchObject({ marker: 'undo' });
  });
});

describe('a chunk of text', () => {
  it('in any split, repeated or overlapping, results in the text', () => {
    const random = seeded(7);
    const whole = 'one two 🚀 three 🧪 four';
    for (let round = 0; round < 200; round += 1) {
      const state = stateOfOps([text('t0.1', 1, '')]);
      for (let at = 0; at < whole.length;) {
        const from = Math.max(0, at - Math.floor(random() * 4));
        const to = at + 1 + Math.floor(random() * 4);
        const ops = [piece('t0.1', 1, from, whole.slice(from, to))];
        expect(applyOps(state, ops).gap).toBe(false);
        if (random() < 0.3) expect(applyOps(state, ops)).toEqual({ changed: false, gap: false });
        at = to;
      }
      expect(textOf(state, 't0.1')).toEqual([whole]);
    }
  });

  it('that does not fit is a gap and changes no state, and later operations are applied', () => {
    const state = stateOfOps([text('t0.1', 1, 'abc'), call('t0.1', 'call_1')]);
    const before = structuredClone(listed(state));
    for (const op of [
      piece('t0.1', 1, 4, 'x'),
      piece('t0.1', 1, 1, 'XY'),
      piece('t0.1', 2, 0, 'x'),
      piece('t0.2', 1, 0, 'x'),
      piece('t1.1', 1, 0, 'x'),
      { ...piece('t0.1', 1, 0, 'x'), target: { type: 'frame', turnId: 't0', stepId: 't0.1', frameId: 't0.1.call_1' } },
    ] as TranscriptOp[]) {
      expect(applyOps(state, [op])).toEqual({ changed: false, gap: true });
    }
    expect(listed(state)).toEqual(before);
    expect(applyOps(state, [piece('t0.1', 1, 9, '?'), marker('m1')])).toEqual({ changed: true, gap: true });
    expect(order(state)).toEqual(['t0', 'm1']);
  });

  it('of a task creates it at offset 0', () => {
    const tail = (offset: number, written: string): TranscriptOp => ({
      op: 'append',
      target: { type: 'task', taskId: 'bash-1' },
      offset,
      text: written,
    });
    const state = emptyTranscript();
    expect(applyOps(state, [tail(3, 'x')]).gap).toBe(true);
    applyOps(state, [tail(0, 'ab'), tail(1, 'bc')]);
    expect(state.tasks.get('bash-1')).toEqual({
      taskId: 'bash-1',
      kind: 'other',
      state: 'running',
      detached: false,
      outputTail: 'abc',
    });
  });

  it('is inserted, ignored or refused by its offset', () => {
    expect(appended('abc', 3, 'd')).toBe('abcd');
    expect(appended('abc', 1, 'bcd')).toBe('abcd');
    expect(appended('abc', 1, 'b')).toBe('abc');
    expect(appended('abc', 4, 'd')).toBeUndefined();
    expect(appended('abc', 1, 'x')).toBeUndefined();
  });
});

describe('pending and removed interactions', () => {
  it('an interaction is pending until it ends, and is removed with the turn of its call', () => {
    const state = stateOfOps([
      turn(0),
      turn(1),
      call('t1.1', 'call_1'),
      asked('approval_1', 'pending', 'call_1'),
      asked('approval_2', 'pending'),
      asked('approval_3', 'approved', 'call_1'),
    ]);
    expect([...state.pending]).toEqual(['approval_1', 'approval_2']);
    applyOps(state, [{ op: 'items.remove', ids: ['t1', 't77'] }]);
    expect(order(state)).toEqual(['t0']);
    expect([...state.interactions.keys()]).toEqual(['approval_2']);
    applyOps(state, [asked('approval_2', 'approved')]);
    expect(state.pending.size).toBe(0);
  });
});

describe('facts of the agent', () => {
  const merge = (meta: OpOf<'meta.merge'>['meta']): TranscriptOp => ({ op: 'meta.merge', meta });

  it('are merged: absent is unchanged, null removes, an object replaces', () => {
    const goal = { objective: 'Ship', status: 'active' as const };
    const state = stateOfOps([
      merge({ goal, modes: { plan: {}, swarm: { trigger: 'tool' } }, agent: { model: 'm1' } }),
    ]);
    applyOps(state, [merge({ modes: { plan: { version: 1 } }, agent: { contextTokens: 5 } })]);
    expect(state.meta).toEqual({
      goal,
      modes: { plan: { version: 1 }, swarm: { trigger: 'tool' } },
      agent: { model: 'm1', contextTokens: 5 },
    });
    applyOps(state, [merge({ goal: null, modes: { plan: null } })]);
    expect(state.meta).toEqual({ modes: { swarm: { trigger: 'tool' } }, agent: { model: 'm1', contextTokens: 5 } });
    applyOps(state, [merge({ modes: { swarm: null }, activity: 'idle' })]);
    expect(state.meta).toEqual({ agent: { model: 'm1', contextTokens: 5 }, activity: 'idle' });
    expect(applyOps(state, [merge({ agent: { model: 'm1' } })]).changed).toBe(false);
  });
});

describe('a whole state', () => {
  it('replaces the previous state, and is not mutated by later operations', () => {
    const state = stateOfOps([turn(4), marker('m1'), asked('approval_1', 'pending')]);
    const items = [
      {
        kind: 'turn' as const,
        turnId: 't1',
        ordinal: 1,
        state: 'running' as const,
        origin: { kind: 'user' as const },
        steps: [],
      },
    ];
    const snapshot = {
      items,
      tasks: [],
      interactions: [],
      attachments: [],
      todos: [],
      prompts: [],
      meta: {},
      hasMoreOlder: true,
    };
    applyOps(state, [{ op: 'reset', agentId: 'main', snapshot }, step('t1', 1), turn(2)]);
    expect(order(state)).toEqual(['t1', 't2']);
    expect(state.hasMoreOlder).toBe(true);
    expect(state.pending.size).toBe(0);
    expect(items).toHaveLength(1);
    expect(items[0]?.steps).toEqual([]);
  });
});

describe('random operations', () => {
  type Pick = (below: number) => number;

  /** Picks one of the arguments at random. */
  const chosen = <T>(pick: Pick, ...all: [T, ...T[]]): T => all[pick(all.length)] ?? all[0];

  function entity(pick: Pick): TranscriptOp {
    const n = pick(3);
    const state = chosen(pick, 'running' as const, 'completed' as const);
    const task = { taskId: `${n}`, kind: 'shell' as const, state, detached: pick(2) === 0, outputTail: 'x'.repeat(n) };
    const todo = {
      todoId: 'todo' as const,
      items: Array.from({ length: n }, () => ({ title: 'x', status: 'done' as const })),
    };
    return chosen<TranscriptOp>(
      pick,
      { op: 'task.upsert', task },
      {
        op: 'attachment.upsert',
        attachment: { attachmentId: `t0.att${n}`, mediaType: chosen(pick, 'image/png', 'image/*') },
      },
      { op: 'todo.upsert', todo },
      { op: 'prompt.upsert', prompt: { promptId: `msg_${n}`, status: state, createdAt: '2026-01-01T00:00:00.000Z' } },
    );
  }

  function metaMerge(pick: Pick): TranscriptOp {
    const goal = { objective: `goal ${pick(2)}`, status: 'active' as const };
    return {
      op: 'meta.merge',
      meta: chosen<OpOf<'meta.merge'>['meta']>(
        pick,
        { goal },
        { goal: null },
        { modes: { plan: { version: pick(2) } } },
        { modes: { plan: null } },
        { modes: { swarm: { trigger: 'tool' } }, goal },
        { modes: { swarm: null } },
        { agent: { contextTokens: pick(2) } },
        { agent: { model: `m${pick(2)}` }, activity: 'idle' },
      ),
    };
  }

  function one(pick: Pick): TranscriptOp {
    const n = pick(5);
    const stepId = `t${n}.${1 + pick(3)}`;
    const thinking = { kind: 'thinking' as const, frameId: `${stepId}.f${1 + pick(2)}`, text: 'x'.repeat(pick(4)) };
    return chosen<() => TranscriptOp>(
      pick,
      () => turn(n, { state: chosen(pick, 'completed', 'running') }),
      () => step(`t${n}`, 1 + pick(3)),
      () => text(stepId, 1 + pick(2), 'x'.repeat(pick(4))),
      () => ({ op: 'frame.upsert', turnId: `t${n}`, stepId, frame: thinking }),
      () => piece(stepId, 1 + pick(2), pick(5), 'x'.repeat(pick(4))),
      () => call(stepId, `call_${pick(4)}`),
      () => marker(`m${pick(4)}`, pick(2) ? pick(6) : undefined),
      () => ({ op: 'taskref.upsert', item: { kind: 'taskref', refId: `ref-${pick(3)}`, taskId: `${pick(3)}` } }),
      () => asked(`approval_${pick(3)}`, chosen(pick, 'pending', 'approved'), `call_${pick(4)}`),
      () => ({ op: 'items.remove', ids: [`t${pick(6)}`, `m${pick(5)}`] }),
      () => ({ op: 'append', target: { type: 'task', taskId: `${pick(3)}` }, offset: pick(3), text: 'x' }),
      () => entity(pick),
      () => metaMerge(pick),
    )();
  }

  /** The state in the form of a snapshot. */
  const resetTo = ({ items, meta, ...maps }: TranscriptState): TranscriptOp => ({
    op: 'reset',
    agentId: 'main',
    snapshot: {
      items,
      meta,
      tasks: [...maps.tasks.values()],
      interactions: [...maps.interactions.values()],
      attachments: [...maps.attachments.values()],
      todos: [...maps.todos.values()],
      prompts: [...maps.prompts.values()],
      hasMoreOlder: maps.hasMoreOlder,
    },
  });

  it('never throw, preserve order, unique ids and pending interactions, and are idempotent', () => {
    const kinds = new Set<string>();
    for (let seed = 1; seed <= 300; seed += 1) {
      const random = seeded(seed);
      const pick: Pick = (below) => Math.floor(random() * below);
      const state = emptyTranscript();
      const before = emptyTranscript();
      for (let count = 0; count < 60; count += 1) {
        // Sometimes the whole state of another moment.
        const op = transcriptOpSchema.parse(pick(40) === 0 ? resetTo(before) : one(pick));
        kinds.add(op.op);
        applyOps(state, [op]);
        expectWellFormed(state);
        if (op.op === 'reset') assert.deepEqual(listed(state), listed(before));
        else if (op.op !== 'append') assert.deepEqual(applyOps(state, [op]), { changed: false, gap: false });
        if (pick(10) === 0) applyOps(before, [resetTo(state)]);
      }
    }
    const all = transcriptOpSchema.options.map((option) => option.shape.op.value);
    expect([...kinds].toSorted()).toEqual(all.toSorted());
  });

  it('a batch is idempotent', () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const random = seeded(seed);
      const pick: Pick = (below) => Math.floor(random() * below);
      const state = emptyTranscript();
      for (let count = 0; count < 10; count += 1) {
        // An item that is removed and added again would follow the items of the first time.
        const batch = Array.from({ length: 1 + pick(6) }, () => one(pick)).filter(({ op }) => op !== 'items.remove');
        // After a gap the client reads again.
        if (applyOps(state, batch).gap) continue;
        const once = structuredClone(listed(state));
        applyOps(state, batch);
        assert.deepEqual(listed(state), once);
      }
    }
  });

  it('a text that begins and grows in one batch may arrive twice', () => {
    const batch = [turn(0), step('t0', 1), text('t0.1', 1, ''), piece('t0.1', 1, 0, 'Hello')];
    const state = stateOfOps(batch);
    expect(applyOps(state, batch).gap).toBe(false);
    expect(textOf(state, 't0.1')).toEqual(['Hello']);
    expect(listed(state)).toEqual(listed(stateOfOps(batch)));
  });

  it('that are unknown have no effect', () => {
    const state = stateOfOps([turn(0)]);
    expect(applyOps(state, [JSON.parse('{"op":"later"}') as TranscriptOp])).toEqual({ changed: false, gap: false });
  });
});
