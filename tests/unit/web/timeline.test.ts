/** Rows that the page creates from a transcript. */
import { describe, expect, it } from 'vitest';
import { retryText, queueOf, runningTurn } from '../../../web/state/session-view.ts';
import { textOf, type Message } from '../../../web/messages/messages.ts';
import { createTimeline, isCompacting, undoCount, type Row } from '../../../web/state/timeline.ts';
import { frame, marker, step, text, tool, transcript, turn } from './transcripts.ts';

const rowsOf = (...ops: Parameters<typeof transcript>[0]) => createTimeline()(transcript(ops));
const keys = (rows: readonly Row[]) => rows.map(({ key }) => key);
/** Rows with the texts that are drawn. */
const drawn = (rows: readonly Row[]) =>
  rows.map((row) => (row.kind === 'notice' && typeof row.text !== 'string' ? { ...row, text: textOf(row.text) } : row));
const sentBy = (rows: readonly Row[]) =>
  rows.map((row) => row.kind === 'prompt' && row.sender?.map((part: Message) => textOf(part)).join(', '));
const done = { state: 'completed' as const };

describe('a turn', () => {
  it('is its prompt, a line about the work, then a row for each visible part', () => {
    const rows = rowsOf(
      turn(0, { attachmentIds: ['t0.att1'] }),
      step(0, 1, done),
      frame('t0.1', { kind: 'thinking', frameId: 't0.1.f1', text: 'Hm' }),
      text('t0.1', 2, 'Looking.'),
      tool('t0.1', 'c'),
      step(0, 2),
      text('t0.2', 1, '  \n'),
    );
    expect(rows).toMatchObject([
      { kind: 'prompt', key: 't0', text: 'Prompt 0', attachmentIds: ['t0.att1'], own: true },
      { kind: 'work', key: 't0.work', steps: 2 },
      { kind: 'group', key: 't0.1.f1', running: false, frames: [{ text: 'Hm' }] },
      { kind: 'text', key: 't0.1.f2', text: 'Looking.' },
      { kind: 'call', key: 't0.1.c', frame: { name: 'Bash' } },
    ]);
  });

  it('has its later input in order: whole prompts, one line for each ended task', () => {
    const rows = rowsOf(
      turn(0),
      step(0, 1),
      frame('t0.1', { kind: 'text', frameId: 't0.1.f1', role: 'user', text: 'Also the docs' }),
      frame('t0.1', { kind: 'text', frameId: 't0.1.f2', role: 'user', text: 'Build ended\nall of it', taskId: 'b' }),
      text('t0.1', 3, 'Yes.'),
    );
    expect(rows.slice(2)).toMatchObject([
      { kind: 'prompt', key: 't0.1.f1', text: 'Also the docs', own: true },
      { kind: 'notice', tone: 'info', text: 'Build ended' },
      { kind: 'text', text: 'Yes.' },
    ]);
  });

  it('has no prompt row without a prompt, and one with a sender for a scheduled job', () => {
    expect(rowsOf(turn(0, { prompt: undefined, origin: { kind: 'other' } }))).toEqual([]);
    const payload = {
      kind: 'cron_job' as const,
      jobId: 'j',
      cron: '',
      recurring: true,
      coalescedCount: 1,
      stale: false,
    };
    const sent = (job: object) =>
      rowsOf(turn(0, { origin: { kind: 'cron', taskId: 'j', payload: { ...payload, ...job } } }));
    expect(sent({ cron: '5 * * * *' })).toMatchObject([{ own: false }]);
    expect(sentBy(sent({ cron: '5 * * * *' }))).toEqual(['Scheduled job, 5 * * * *']);
    expect(sentBy(sent({ cron: '5 * * * *', coalescedCount: 3, stale: true }))).toEqual([
      'Scheduled job, 5 * * * *, for 3 times, for the last time',
    ]);
  });

  it('omits the output of a failed attempt, and has the reason of the wait', () => {
    const retry = {
      failedAttempt: 1,
      nextAttempt: 2,
      maxAttempts: 10,
      delayMs: 600,
      errorName: 'APIStatusError',
      errorMessage: '500 oops',
    };
    const waiting = transcript([turn(0), step(0, 1, { retry })]);
    const reason = retryText(waiting);
    expect(reason && textOf(reason)).toBe('500 oops\nTrying again in 1 s (attempt 2 of 10).');
    transcript(
      [step(0, 1, { state: 'failed' }), tool('t0.1', 'c', { state: 'error' }), step(0, 2), text('t0.2', 1, 'kept')],
      waiting,
    );
    expect(retryText(waiting)).toBeUndefined();
    expect(keys(createTimeline()(waiting))).toEqual(['t0', 't0.work', 't0.2.f1']);
  });

  it('has its error a single time, and the reason of an interruption', () => {
    const notice = { level: 'error', message: '400 bad thing' };
    expect(rowsOf(turn(0, { state: 'failed', error: '400 bad thing' }), marker(1, 'notice', notice))).toMatchObject([
      { kind: 'prompt' },
      { kind: 'notice', tone: 'error', text: '400 bad thing' },
    ]);
    const cut = (reason: string) =>
      drawn(rowsOf(turn(0, { state: 'cancelled' }), marker(1, 'interruption', { reason }))).at(-1);
    expect(cut('user_cancelled')).toMatchObject({ text: 'Stopped.' });
    expect(cut('server_stopped')).toMatchObject({ text: 'Interrupted: the server stopped during this turn.' });
  });
});

describe('markers', () => {
  it('are drawn for errors, refusals, undo and compaction only', () => {
    const result = { summary: 'S', compactedCount: 9, tokensBefore: 900, tokensAfter: 90 };
    const rows = rowsOf(
      turn(0, done),
      marker(1, 'notice', { level: 'warning', message: 'low disk' }),
      marker(2, 'hook', { hookEvent: 'Stop', content: 'added' }),
      marker(3, 'hook', { hookEvent: 'UserPromptSubmit', content: 'not today', blocked: true }),
      marker(4, 'undo', { turns: 1 }),
      marker(5, 'compaction', { phase: 'started', trigger: 'manual' }),
      marker(6, 'compaction', { phase: 'completed', result, text: 'Summary' }),
      marker(7, 'plan.enter', { id: 'p' }),
      marker(8, 'of.tomorrow', {}),
      marker(9, 'notice', {}),
      { op: 'taskref.upsert', item: { kind: 'taskref', refId: 'ref-b', taskId: 'b' } },
    );
    expect(drawn(rows).slice(1)).toMatchObject([
      { tone: 'warning', text: 'low disk' },
      { tone: 'warning', text: 'A hook refused this prompt: not today' },
      { tone: 'info', text: 'A prompt was taken back.' },
      { kind: 'compacted', summary: 'Summary', tokens: { before: 900, after: 90 } },
    ]);
    expect(rows).toHaveLength(5);
  });

  it('are drawn by a feature', () => {
    const state = transcript([
      marker(1, 'skill', { id: 'a' }),
      marker(2, 'skill', {}),
      marker(3, 'undo', { turns: 1 }),
    ]);
    const rows = createTimeline({ isDrawn: ({ markerId }) => markerId !== 'm2' })(state);
    expect(rows).toMatchObject([
      { kind: 'marker', key: 'm1', marker: { payload: { id: 'a' } } },
      { kind: 'notice', key: 'm3' },
    ]);
  });

  it('report a running compaction until its end', () => {
    const state = transcript([turn(0, done), marker(1, 'compaction', { phase: 'started' })]);
    expect(isCompacting(state)).toBe(true);
    transcript([marker(2, 'compaction', { phase: 'blocked' })], state);
    expect(isCompacting(state)).toBe(true);
    transcript([marker(3, 'compaction', { phase: 'cancelled' })], state);
    expect(isCompacting(state)).toBe(false);
    expect(isCompacting(transcript([turn(0)]))).toBe(false);
  });
});

describe('existing rows', () => {
  const state = transcript([turn(0, done), step(0, 1, done), text('t0.1', 1, 'One'), turn(1), step(1, 1)]);
  const rowsAgain = createTimeline();

  it('keep their identity if unchanged', () => {
    transcript([text('t1.1', 1, 'Tw')], state);
    const before = rowsAgain(state);
    const append = { type: 'frame' as const, turnId: 't1', stepId: 't1.1', frameId: 't1.1.f1' };
    transcript([{ op: 'append', target: append, offset: 2, text: 'o' }, tool('t1.1', 'c')], state);
    const after = rowsAgain(state);
    expect(after.map((row, at) => row === before[at])).toEqual([true, true, true, true, false, false, false]);
    expect(after.slice(-2)).toMatchObject([{ text: 'Two', running: false }, { frame: { toolCallId: 'c' } }]);
    transcript([tool('t1.1', 'd')], state);
    expect(rowsAgain(state).slice(0, -1)).toEqual(after);
    expect(rowsAgain(state).at(-2)).toBe(after.at(-1));
  });

  it('are removed with their items', () => {
    transcript([{ op: 'items.remove', ids: ['t1'] }], state);
    expect(keys(rowsAgain(state))).toEqual(['t0', 't0.work', 't0.1.f1']);
  });
});

describe('undo', () => {
  const rows = rowsOf(
    turn(0, done),
    marker(1, 'compaction', { phase: 'completed' }),
    turn(1, done),
    turn(2, { ...done, prompt: undefined, origin: { kind: 'task', taskId: 'b' } }),
    turn(3, done),
    step(3, 1, done),
    frame('t3.1', { kind: 'text', frameId: 't3.1.f1', role: 'user', text: 'more' }),
  );

  it('counts the prompts of people from the end, also those within a turn', () => {
    expect(undoCount(rows, 't3.1.f1')).toBe(1);
    expect(undoCount(rows, 't3')).toBe(2);
    expect(undoCount(rows, 't1')).toBe(3);
  });

  it('is unavailable before a compaction', () => {
    expect(undoCount(rows, 't0')).toBeUndefined();
    expect(undoCount(rows, 'gone')).toBeUndefined();
  });
});

it('a turn runs until its end, and queued prompts are in order', () => {
  const state = transcript([turn(0), marker(1, 'goal', {})]);
  const prompt = (promptId: string, status: 'running' | 'queued' | 'aborted') =>
    ({ op: 'prompt.upsert', prompt: { promptId, status, createdAt: '' } }) as const;
  transcript([prompt('p0', 'running'), prompt('p1', 'queued'), prompt('p2', 'queued')], state);
  expect(runningTurn(state)?.turnId).toBe('t0');
  transcript([turn(0, done), prompt('p1', 'aborted')], state);
  expect(runningTurn(state)).toBeUndefined();
  expect(queueOf(state).map(({ promptId }) => promptId)).toEqual(['p2']);
});
