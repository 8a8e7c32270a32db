/** A compaction that the editor has requested: it has one outcome. */
import { applyOps, createSignal, emptyTranscript, type TranscriptState } from '@service-code/client';
import { expect, it } from 'vitest';
import { compacted } from '../../../clients/acp/compaction.ts';
import { internal } from '../../../clients/acp/errors.ts';

function open() {
  const main = emptyTranscript();
  const agents = new Map<string, TranscriptState>([['main', main]]);
  const changes = createSignal<string>();
  const cancelled = new AbortController();
  const closed = new AbortController();
  let aborts = 0;
  let isAway = false;
  let markers = 0;
  const mark = (marker: string, payload: object) => {
    markers += 1;
    applyOps(main, [{ op: 'marker.upsert', item: { kind: 'marker', markerId: `m${markers}`, marker, payload } }]);
  };
  return {
    cancelled,
    closed,
    aborts: () => aborts,
    leave: () => void (isAway = true),
    mark,
    change: () => changes.emit('main'),
    run: (start = () => Promise.resolve()) =>
      compacted(
        agents,
        changes,
        {
          start,
          async read() {
            if (isAway) throw new Error('away');
            return main.items;
          },
          async abort() {
            aborts += 1;
            if (isAway) throw new Error('away');
          },
        },
        { cancelled: cancelled.signal, closed: closed.signal },
      ),
  };
}
const started = () => new Promise((resolve) => setImmediate(resolve));

it('ends with its own end, not with an earlier one', async () => {
  const { run, mark, change } = open();
  mark('compaction', { phase: 'cancelled' });
  const outcome = run();
  await started();
  mark('compaction', { phase: 'started' });
  change();
  mark('compaction', { phase: 'completed' });
  change();
  expect(await outcome).toEqual({ stopReason: 'end_turn', message: 'The conversation was compacted.' });
});

it('ends with the error of its failure, and as cancelled when another client has cancelled it', async () => {
  const { run, mark, change } = open();
  const failed = run();
  await started();
  mark('compaction', { phase: 'cancelled' });
  change();
  mark('notice', { level: 'error', event: { code: 'compaction.failed', message: 'no summary' } });
  expect(await failed).toMatchObject({ error: { code: -32603, message: 'no summary' } });
  const stopped = run();
  await started();
  mark('compaction', { phase: 'cancelled' });
  change();
  expect(await stopped).toEqual({ stopReason: 'cancelled' });
});

it('fails when the reason of its end cannot be read', async () => {
  const { run, mark, change, leave } = open();
  const outcome = run();
  await started();
  leave();
  mark('compaction', { phase: 'cancelled' });
  change();
  await expect(outcome).rejects.toThrow('away');
});

it.each(['completed', 'cancelled'])(
  'is cancelled on the server, and ends as cancelled when it has %s',
  async (phase) => {
    const { run, mark, change, cancelled, aborts } = open();
    const outcome = run();
    await started();
    cancelled.abort();
    expect(aborts()).toBe(1);
    mark('compaction', { phase });
    change();
    expect(await outcome).toEqual({ stopReason: 'cancelled' });
  },
);

it('is cancelled on the server after it has started', async () => {
  const { run, mark, change, cancelled, aborts } = open();
  let accept = () => {};
  const outcome = run(() => new Promise((resolve) => (accept = resolve)));
  cancelled.abort();
  expect(aborts()).toBe(0);
  accept();
  await started();
  expect(aborts()).toBe(1);
  mark('compaction', { phase: 'cancelled' });
  change();
  expect(await outcome).toEqual({ stopReason: 'cancelled' });
});

it('ends as cancelled when the server cannot be reached, and when the session is closed', async () => {
  const { run, cancelled, leave } = open();
  leave();
  const outcome = run();
  await started();
  cancelled.abort();
  expect(await outcome).toEqual({ stopReason: 'cancelled' });

  const other = open();
  const closed = other.run();
  await started();
  other.closed.abort();
  expect(await closed).toEqual({ stopReason: 'cancelled' });
});

it('fails when the server is lost', async () => {
  const { run, closed } = open();
  const outcome = run();
  await started();
  closed.abort(internal('lost'));
  expect(await outcome).toMatchObject({ error: { message: 'lost' } });
});
