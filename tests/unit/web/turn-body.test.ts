/** Folding of a turn: the parts of its work that are displayed in each view. */
import { describe, expect, it } from 'vitest';
import { textOf } from '../../../web/messages/messages.ts';
import type { Row, WorkRow } from '../../../web/state/rows.ts';
import { createTimeline } from '../../../web/state/timeline.ts';
import { VIEW_MODES, type CallEffect, type ViewMode } from '../../../web/state/turn-body.ts';
import { workDetails, workLine } from '../../../web/state/work-line.ts';
import { AT, asked, frame, step, text, tool, transcript, turn } from './transcripts.ts';

const effects: Record<string, CallEffect> = {
  Read: { effect: 'reads' },
  Edit: { effect: 'changes', path: 'a.ts', change: { before: 'one\ntwo\n', after: 'one\n2\nthree\n' } },
  Write: { effect: 'changes', path: 'b.ts', change: { before: '', after: 'x\ny' } },
  AskUserQuestion: { effect: 'asks' },
};
const effectOf = ({ name }: { name: string }) => effects[name] ?? {};

const call = (id: string, name: string, state: 'running' | 'done' | 'error' = 'done', over = {}) =>
  tool('t0.1', id, { name, state, ...over });
const thinking = (number: number) => frame('t0.1', { kind: 'thinking', frameId: `t0.1.f${number}`, text: 'Hm' });

const shape = (rows: readonly Row[]) =>
  rows.map((row) => {
    if (row.kind === 'group') return row.frames.map((one) => (one.kind === 'tool' ? one.toolCallId : 'thinking'));
    return row.kind === 'call' ? row.frame.toolCallId : row.kind === 'text' ? row.text : row.kind;
  });

const work = [
  step(0, 1, { state: 'completed' }),
  thinking(1),
  call('r1', 'Read'),
  call('r2', 'Read'),
  text('t0.1', 2, 'Now the change.'),
  call('e', 'Edit'),
  call('e2', 'Edit'),
  call('w', 'Write'),
  call('b', 'Bash'),
  call('r3', 'Read'),
  call('bad', 'Read', 'error'),
  call('ok', 'Bash', 'done', { approvalId: 'approval_1' }),
  call('q', 'AskUserQuestion'),
  step(0, 2, { state: 'completed' }),
  text('t0.2', 1, 'Done.'),
];
const ended = [turn(0, { state: 'completed', durationMs: 42_000 }), ...work];

function shapeOf(ops: Parameters<typeof transcript>[0], mode: ViewMode, isOpen?: boolean) {
  const toggled = new Map(isOpen === undefined ? [] : [['t0', isOpen]]);
  return shape(createTimeline({ effectOf })(transcript(ops), { mode, toggled }));
}

const unfolded = [['thinking', 'r1', 'r2'], 'Now the change.', 'e', 'e2', 'w', 'b', ['r3'], 'bad', 'ok', 'q', 'Done.'];

describe('a turn that has ended', () => {
  it('is folded to changes, failures, decisions of people and the answer', () => {
    expect(shapeOf(ended, 'normal')).toEqual(['prompt', 'work', 'e', 'e2', 'w', 'bad', 'ok', 'q', 'Done.']);
  });

  it('is folded to failures and the answer in the summary', () => {
    expect(shapeOf(ended, 'summary')).toEqual(['prompt', 'work', 'bad', 'Done.']);
  });

  it('unfolds, with thinking and runs of reading calls in one line', () => {
    expect(shapeOf(ended, 'normal', true)).toEqual(['prompt', 'work', ...unfolded]);
    expect(shapeOf(ended, 'summary', true)).toEqual(['prompt', 'work', ...unfolded]);
  });

  it('is complete in the view of all, each part in a row', () => {
    const parts = unfolded.flatMap((part) => (Array.isArray(part) ? part : [part]));
    expect(shapeOf(ended, 'all')).toEqual(['prompt', 'work', ['thinking'], ...parts.slice(1)]);
    expect(shapeOf(ended, 'all', false)).not.toContain('b');
  });
});

describe('a running turn', () => {
  it('is unfolded, except in the summary', () => {
    expect(shapeOf([turn(0), ...work], 'normal')).toEqual(['prompt', 'work', ...unfolded]);
    expect(shapeOf([turn(0), ...work], 'summary')).not.toContain('b');
  });

  it.each(VIEW_MODES)('always displays a call that waits (%s)', (mode) => {
    const waits = [
      turn(0),
      step(0, 1),
      call('b', 'Read', 'running', { approvalId: 'approval_2' }),
      asked({ interactionId: 'approval_2', interactionKind: 'approval', request: {}, toolCallId: 'b' }),
    ];
    expect(shapeOf(waits, mode, mode === 'summary' ? false : undefined)).toEqual(['prompt', 'work', 'b']);
  });
});

describe('the line about the work', () => {
  const rowOf = (ops: Parameters<typeof transcript>[0]): WorkRow => {
    const row = createTimeline({ effectOf })(transcript(ops)).find(({ kind }) => kind === 'work');
    if (row?.kind !== 'work') throw new Error('no line');
    return row;
  };
  const line = (row: WorkRow, now = 0) => workLine(row, now).map(textOf).join(' · ');

  it('has the time, the steps, the files and their lines', () => {
    expect(line(rowOf(ended))).toBe('Worked 42 s · 2 steps · 2 files · +6 −2');
  });

  it('counts the time of a running turn', () => {
    expect(line(rowOf([turn(0), step(0, 1), text('t0.1', 1, 'x')]), Date.parse(AT) + 125_000)).toBe(
      'Working 2 min 5 s',
    );
  });

  it('ignores changes that have failed', () => {
    expect(
      line(rowOf([turn(0, { state: 'completed', durationMs: 900 }), step(0, 1), call('e', 'Edit', 'error')])),
    ).toBe('Worked 1 s');
  });

  it('has tokens and model as details, and money only from the server', () => {
    const usage = { inputTokens: 1200, outputTokens: 50, cachedTokens: 0 };
    const row = rowOf([turn(0, { state: 'completed', durationMs: 900, usage }), step(0, 1), text('t0.1', 1, 'x')]);
    const details = (one: WorkRow) => workDetails(one, 0, 'm1').map(textOf);
    expect(details(row)).toEqual(['Time: 1 s', 'Tokens: 1.2k in, 50 out, 0 from the cache', 'Model: m1']);
    expect(details({ ...row, usage: { ...usage, cost: 0.5 } }).at(-1)).toBe('List price: $0.50');
  });
});
