/** Archiving and restoring of many sessions. */
import { expect, it } from 'vitest';
import type { SessionBatch } from '@service-code/client';
import { createBatch } from '../../../web/stores/batch.ts';

function open(answer: (ids: readonly string[]) => Promise<SessionBatch>) {
  const requests: [string, number][] = [];
  const dropped: [string, number][] = [];
  const errors: unknown[] = [];
  let reads = 0;
  const call = (name: string) => (ids: readonly string[]) => {
    requests.push([name, ids.length]);
    return answer(ids);
  };
  const batch = createBatch({
    rest: { archiveMany: call('archive'), restoreMany: call('restore') },
    lists: {
      drop: (from, ids) => void dropped.push([from, ids.size]),
      read: () => {
        reads += 1;
        return Promise.resolve();
      },
    },
    report: (error) => errors.push(error),
  });
  return { batch, requests, dropped, errors, reads: () => reads };
}

const refusing =
  (refused: readonly string[] = []) =>
  (ids: readonly string[]): Promise<SessionBatch> =>
    Promise.resolve({
      results: ids.map((id) =>
        refused.includes(id)
          ? { id, ok: false, error: { code: 40401, message: `session ${id} does not exist` } }
          : { id, ok: true },
      ),
      succeeded: ids.length,
      failed: 0,
    });

const idsOf = (count: number) => Array.from({ length: count }, (_, number) => `session_${number}`);

it('sends thousands in several requests, and removes them from the list', async () => {
  const { batch, requests, dropped, reads } = open(refusing());
  const done = await batch.run('archive', idsOf(12_000));
  expect(done.size).toBe(12_000);
  expect(requests).toEqual([
    ['archive', 5_000],
    ['archive', 5_000],
    ['archive', 2_000],
  ]);
  expect(dropped.map(([from]) => from)).toEqual(['open', 'open', 'open']);
  expect(reads()).toBe(0);
  expect(batch.running.value).toBeUndefined();
});

it('reads the list after a restore, which no event announces', async () => {
  const { batch, dropped, reads } = open(refusing());
  await batch.run('restore', ['session_1']);
  expect(dropped).toEqual([['archived', 1]]);
  expect(reads()).toBe(1);
});

it('lists the failures of single sessions until the next batch', async () => {
  const { batch, reads } = open(refusing(['session_1']));
  const done = await batch.run('restore', ['session_1', 'session_2']);
  expect([...done]).toEqual(['session_2']);
  expect(batch.failures.value).toEqual([{ id: 'session_1', message: 'session session_1 does not exist' }]);
  await batch.run('restore', ['session_1']);
  expect(reads()).toBe(1);
  await batch.run('restore', ['session_3']);
  expect(batch.failures.value).toEqual([]);
});

it('reports a request that fails as a whole, and returns what succeeded before it', async () => {
  let requests = 0;
  const { batch, errors } = open((ids) => {
    requests += 1;
    return requests === 1 ? refusing()(ids) : Promise.reject(new Error('unreachable'));
  });
  const done = await batch.run('archive', idsOf(6_000));
  expect(done.size).toBe(5_000);
  expect(errors).toEqual([new Error('unreachable')]);
  expect(batch.running.value).toBeUndefined();
});

it('runs one batch at a time', async () => {
  const { batch, requests } = open(refusing());
  await Promise.all([batch.run('archive', ['session_1']), batch.run('archive', ['session_2'])]);
  expect(requests).toHaveLength(1);
});
