/** Streamed output before its record. */
import { expect, it } from 'vitest';
import { event } from '#server/journal/records.ts';
import type { StoredOp } from '#server/transcript/reducer/state.ts';
import { answer, argument, startFold, step, text, thought, turn } from './told.ts';

/** Short form of operations on texts and calls. */
const short = (ops: StoredOp[]) =>
  ops.map((op) => {
    if (op.op === 'append') return `+${op.offset} ${String(op.text)}`;
    if (op.op !== 'frame.upsert') return op.op;
    const { frame } = op;
    return frame.kind === 'tool'
      ? `${frame.frameId}: ${frame.inputText}`
      : `${frame.frameId}= ${JSON.stringify(frame)}`;
  });
const whole = (frameId: string, kind: 'text' | 'thinking', written: string) =>
  `${frameId}= ${JSON.stringify(kind === 'text' ? { kind, frameId, role: 'assistant', text: written } : { kind, frameId, text: written })}`;

it('is sent in chunks, and as a whole where another kind of text begins, a call is written, or the response is recorded', () => {
  const { tell, stream, frames } = startFold();
  tell(turn(), step());
  expect(short(stream(thought('Let '), thought('me'), text('')))).toEqual([
    whole('t0.1.f1', 'thinking', ''),
    '+0 Let ',
    '+4 me',
  ]);
  expect(short(stream(text('Yes')))).toEqual([
    whole('t0.1.f1', 'thinking', 'Let me'),
    whole('t0.1.f2', 'text', ''),
    '+0 Yes',
  ]);
  expect(short(stream(text('. ')))).toEqual(['+3 . ']);
  expect(short(stream(argument('c1', '{"a"')))).toEqual([whole('t0.1.f2', 'text', 'Yes. '), 't0.1.c1: {"a"']);
  expect(short(stream(argument('c1', ':1}')))).toEqual(['t0.1.c1: {"a":1}']);
  // A call does not end a text: later chunks of the same kind are appended to it.
  expect(short(stream(text('More')))).toEqual(['+5 More']);
  const parts = [
    { type: 'think' as const, think: 'Let me' },
    { type: 'text' as const, text: 'Yes. More' },
  ];
  expect(short(tell(answer(parts, [{ id: 'c1', name: 'Write' }])))).toEqual([whole('t0.1.f2', 'text', 'Yes. More')]);
  // An unchanged response needs no operations.
  expect(tell(answer(parts, [{ id: 'c1', name: 'Write' }]))).toEqual([]);
  expect(frames().map(({ frameId }) => frameId)).toEqual(['t0.1.f1', 't0.1.f2', 't0.1.c1']);
});

it('is replaced by a response that differs; frames that the response lacks become empty', () => {
  const { tell, stream, frames } = startFold();
  tell(turn(), step());
  stream(thought('hm'), text('Yes'), thought('or'), text('no'));
  tell(
    answer([
      { type: 'text', text: 'Maybe' },
      { type: 'think', think: 'or' },
    ]),
  );
  expect(frames()).toMatchObject([
    { frameId: 't0.1.f1', kind: 'text', text: 'Maybe' },
    { frameId: 't0.1.f2', kind: 'thinking', text: 'or' },
    { frameId: 't0.1.f3', kind: 'thinking', text: '' },
    { frameId: 't0.1.f4', kind: 'text', text: '' },
  ]);
});

it('of a failed attempt is removed, and no output enters the step that waits', () => {
  const { tell, stream, frames } = startFold();
  tell(turn(), step());
  stream(text('Half'), argument('c1', '{"a"'));
  const failed = { failedAttempt: 1, nextAttempt: 2, maxAttempts: 3, delayMs: 5, errorName: 'E', errorMessage: 'no' };
  tell(event('main', 'turn.step.retrying', { turnId: 0, step: 1, stepId: 's1', ...failed }));
  expect(frames()).toEqual([
    { kind: 'text', frameId: 't0.1.f1', role: 'assistant', text: '' },
    { kind: 'tool', frameId: 't0.1.c1', toolCallId: 'c1', name: 'Write', state: 'error' },
  ]);
  expect(stream(text('late'), argument('c1', ':1}'), argument('c2', '{}'))).toEqual([]);
});

it('belongs to the running step, and progress to running calls', () => {
  const { tell, stream, call } = startFold();
  const progress = (toolCallId: string, said: string) =>
    stream({ type: 'tool.progress', fields: { turnId: 0, toolCallId, update: { kind: 'stdout', text: said } } });
  expect(stream(text('early'), argument('c1', '{}'))).toEqual([]);
  tell(turn(), step(), answer([], [{ id: 'c1', name: 'Bash' }]));
  expect(progress('c9', 'x')).toEqual([]);
  progress('c1', 'one');
  progress('c1', 'two');
  expect(call('c1')).toMatchObject({ state: 'running', progress: { kind: 'stdout', text: 'two' } });
  tell(event('main', 'tool.result', { turnId: 0, toolCallId: 'c1', output: 'done' }));
  expect(call('c1')).not.toHaveProperty('progress');
  expect(progress('c1', 'three')).toEqual([]);
});
