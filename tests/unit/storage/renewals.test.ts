/** One renewal at a time: joined calls, forced ones, cancellation. */
import { expect, it } from 'vitest';
import { createSerialQueue } from '#server/async/keyed-queue.ts';
import { createRenewals, type Renewal } from '#server/storage/renewals.ts';

interface Writer {
  write(value: string): Promise<void>;
}

function open() {
  let stored: string | undefined = 'first';
  const lock = createSerialQueue();
  const writer: Writer = { write: async (value) => void (stored = value) };
  const renewals = createRenewals<string, Writer, string>({
    read: async () => stored,
    write: (to, _id, value) => to.write(value),
    change: (_id, work) => lock.run(() => work(writer)),
  });
  const started: Renewal<string, Writer>[] = [];
  const releases: (() => void)[] = [];
  /** Starts or joins a renewal that waits for `release`. */
  const run = (forced = false) =>
    renewals.run(
      'x',
      async (renewal) => {
        started.push(renewal);
        const number = started.length;
        await new Promise<void>((resolve) => releases.push(resolve));
        if (renewal.cancelled.aborted) throw new Error('cancelled');
        await renewal.writer.write(`renewed ${number}`);
        return `renewed ${number}`;
      },
      { forced },
    );
  return { run, renewals, started, release: () => releases.shift()?.(), set: (value: string) => (stored = value) };
}

/** Lets pending promises settle. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

it('is joined by later calls, and another one starts after it', async () => {
  const { run, started, release } = open();
  const both = [run(), run()];
  await settle();
  release();
  expect(await Promise.all(both)).toEqual(['renewed 1', 'renewed 1']);
  const next = run();
  await settle();
  release();
  expect(await next).toBe('renewed 2');
  expect(started.map(({ stored }) => stored)).toEqual(['first', 'renewed 1']);
});

it('by force waits for an ordinary one, also a failed one, and is joined by forced calls', async () => {
  const { run, renewals, started, release } = open();
  const failing = renewals.run('x', () => Promise.reject(new Error('failed')));
  const forced = [run(true), run(true), run()];
  await expect(failing).rejects.toThrow('failed');
  await expect(forced[2]).rejects.toThrow('failed');
  await settle();
  expect(started).toHaveLength(1);
  const ordinary = run();
  release();
  expect(await Promise.all([forced[0], forced[1], ordinary])).toEqual(['renewed 1', 'renewed 1', 'renewed 1']);
});

it('that is cancelled writes nothing, and later calls do not join it', async () => {
  const { run, renewals, started, release, set } = open();
  const cancelled = run();
  await settle();
  renewals.cancel('x');
  const next = run();
  set('replaced');
  release();
  await expect(cancelled).rejects.toThrow('cancelled');
  await settle();
  expect(started.map(({ stored }) => stored)).toEqual(['first', 'replaced']);
  release();
  expect(await next).toBe('renewed 2');
});

it('of another credential is separate', async () => {
  const { renewals } = open();
  const both = ['x', 'y'].map((id) => renewals.run(id, async () => id));
  expect(await Promise.all(both)).toEqual(['x', 'y']);
});
