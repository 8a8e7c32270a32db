/**
 * The cache of folds for readers: sharing, limits, extending; with real journals that a session log writes
 * concurrently.
 */
import { appendFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { features } from '#server/features/features.ts';
import { event, internal } from '#server/journal/records.ts';
import { createColdFolds, type ColdFolds } from '#server/sessions/reading/cold-folds.ts';
import { KEPT_TRANSCRIPTS } from '#server/sessions/reading/session-folds.ts';
import { createSemaphore, type Semaphore } from '#server/async/semaphore.ts';
import { deadOwner, leaseHolder } from '#support/lease-holder.ts';
import { manualClock } from '#support/manual-clock.ts';
import { openLog } from '#support/session-logs.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const MAX_FOLDS = 4;

let home: string;
let folds: ColdFolds;
/** Number of reads of files so far, and the maximum that ran concurrently. */
let reads: number;
let most: number;
beforeEach(async () => {
  home = await temporaryHome();
  [reads, most] = [0, 0];
  const projections = features.flatMap((feature) => feature.projection ?? []);
  folds = createColdFolds({
    slots: counted(createSemaphore(2)),
    holder: leaseHolder(),
    projections,
    maxFolds: MAX_FOLDS,
  });
});

function counted(slots: Semaphore): Semaphore {
  let running = 0;
  return {
    run: (work) =>
      slots.run(async () => {
        reads += 1;
        running += 1;
        most = Math.max(most, running);
        return work().finally(() => (running -= 1));
      }),
  };
}

const dirOf = (id: string) => join(home, id);
const read = (id: string) => folds.read(id, dirOf(id));
const titled = (title: string) => event('main', 'session.meta.updated', { title, patch: { title } });

/** Opens and claims the log of a session; it is closed when the test ends. */
async function writer(id: string) {
  const { log } = await openLog(dirOf(id), { sessionId: id });
  await log.claim();
  onTestFinished(() => log.close());
  return log;
}

async function written(id: string, title = id): Promise<void> {
  const log = await writer(id);
  log.append([titled(title)]);
  await log.close();
}

it('is the same object for sequential readers, and is extended when the file has grown', async () => {
  const log = await writer('a');
  log.append([titled('one')]);
  const fold = await read('a');
  expect(fold).toMatchObject({ seq: 1, state: { index: { title: 'one' } } });
  expect(await read('a')).toBe(fold);
  log.append([titled('two'), titled('three')]);
  expect(await read('a')).toBe(fold);
  expect(fold).toMatchObject({ seq: 3, length: log.length, state: { index: { title: 'three' } } });
});

it('is removed when it was not read for `maxAgeMs`, and created again by a later read', async () => {
  const clock = manualClock();
  const maxAgeMs = KEPT_TRANSCRIPTS.maxAgeMs;
  expect(maxAgeMs).toBe(60_000);
  folds = createColdFolds({ slots: createSemaphore(2), holder: leaseHolder(), maxAgeMs, clock });
  for (const id of ['a', 'b']) await written(id);
  const [first, other] = [await read('a'), await read('b')];
  clock.advance(maxAgeMs - 1);
  expect(await read('a')).toBe(first);
  clock.advance(1);
  expect(folds.kept().folds).toBe(1);
  expect(await read('b')).not.toBe(other);
  clock.advance(maxAgeMs - 2);
  expect(await read('a')).toBe(first);
  clock.advance(maxAgeMs);
  expect(folds.kept()).toEqual({ folds: 0, bytes: 0 });
  expect(clock.waits()).toEqual([]);
  expect(await read('a')).not.toBe(first);
});

it('concurrent readers share a fold, and each finds the records written before its call', async () => {
  const log = await writer('a');
  for (let n = 1; n <= 50; n++) {
    log.append([titled(`title ${n}`)]);
    const readers = Array.from({ length: 5 }, () => read('a'));
    // These reads are requested while the others are running.
    log.append([titled(`again ${n}`)]);
    readers.push(...Array.from({ length: 5 }, () => read('a')));
    const [first, ...others] = await Promise.all(readers);
    for (const other of others) expect(other).toBe(first);
    expect(first).toMatchObject({ seq: 2 * n, state: { index: { title: `again ${n}` } } });
  }
  // One read for the first readers, and one for all readers during it.
  expect(reads).toBe(100);
});

it('caches the last few, regardless of the number of sessions, and limits concurrent reads', async () => {
  const ids = Array.from({ length: 20 }, (_, n) => `session_${n}`);
  for (const id of ids) await written(id);
  const titles = await Promise.all(ids.map(async (id) => (await read(id)).state.index.title));
  expect(titles).toEqual(ids);
  expect(folds.kept().folds).toBe(MAX_FOLDS);
  expect(most).toBe(2);
  const newest = await read('session_0');
  for (const id of ids.slice(1, MAX_FOLDS)) await read(id);
  expect(await read('session_0')).toBe(newest);
  for (const id of ids.slice(5, 5 + MAX_FOLDS)) await read(id);
  expect(await read('session_0')).not.toBe(newest);
});

it('caches at most `maxBytes` of journals', async () => {
  for (const id of ['a', 'b', 'c']) await written(id, 'x'.repeat(4_000));
  const { length } = await read('a');
  folds = createColdFolds({ slots: createSemaphore(1), holder: leaseHolder(), maxBytes: 2 * length + 100 });
  for (const id of ['a', 'b', 'c']) await read(id);
  expect(folds.kept()).toEqual({ folds: 2, bytes: 2 * length });
  folds = createColdFolds({ slots: createSemaphore(1), holder: leaseHolder(), maxBytes: length - 1 });
  await read('a');
  expect(folds.kept()).toEqual({ folds: 0, bytes: 0 });
});

const turn = [
  event('main', 'agent.created', {}, { kind: 'main' }),
  internal('main', 'agent.config', { permission: 'manual' }),
  event('main', 'turn.started', { turnId: 0, origin: { kind: 'user' } }),
];

it('reports a turn as running while its server is alive, and settles it only in memory after the server was killed', async () => {
  const log = await writer('a');
  log.append(turn);
  const fold = await read('a');
  expect([...fold.state.activity.turns]).toEqual(['main']);
  expect(fold.unsettled).toBe(false);
  const names = await readdir(dirOf('a'));
  const lock = names.find((name) => name.startsWith('lock.')) ?? '';
  await writeFile(join(dirOf('a'), lock), deadOwner());
  const journal = await readFile(join(dirOf('a'), 'journal.ndjson'), 'utf8');
  const settled = await read('a');
  expect(settled).toMatchObject({ unsettled: true, seq: fold.seq, state: { activity: { outcome: 'cancelled' } } });
  expect(await read('a')).toBe(settled);
  expect(await readFile(join(dirOf('a'), 'journal.ndjson'), 'utf8')).toBe(journal);
  expect(await readdir(dirOf('a'))).toEqual(names);
});

it('a fold that was settled in memory is not extended: the records in the file replace it', async () => {
  const log = await writer('a');
  log.append(turn);
  const lock = (await readdir(dirOf('a'))).find((name) => name.startsWith('lock.')) ?? '';
  const owner = await readFile(join(dirOf('a'), lock), 'utf8');
  await writeFile(join(dirOf('a'), lock), deadOwner());
  expect((await read('a')).unsettled).toBe(true);
  await writeFile(join(dirOf('a'), lock), owner);
  log.append([event('main', 'turn.ended', { turnId: 0, reason: 'completed', durationMs: 1 })]);
  const fold = await read('a');
  expect(fold.unsettled).toBe(false);
  expect(fold.state).toEqual(log.state);
});

it('folds from scratch if the file was replaced, and returns an empty fold if it was removed', async () => {
  await written('a', 'a long title');
  await written('b', 'short');
  await read('a');
  const path = join(dirOf('a'), 'journal.ndjson');
  await writeFile(path, await readFile(join(dirOf('b'), 'journal.ndjson')));
  expect((await read('a')).state.index.title).toBe('short');
  await rm(dirOf('a'), { recursive: true });
  expect(await read('a')).toMatchObject({ length: 0, seq: 0 });
});

it('a damaged journal fails each reader and is not cached; after its repair it is read', async () => {
  await written('a');
  await read('a');
  const path = join(dirOf('a'), 'journal.ndjson');
  const sound = await readFile(path, 'utf8');
  await appendFile(path, 'not a line\n');
  const readers = Array.from({ length: 3 }, () => read('a'));
  for (const outcome of await Promise.allSettled(readers)) expect(outcome.status).toBe('rejected');
  await expect(read('a')).rejects.toMatchObject({ code: 50001 });
  expect(folds.kept().folds).toBe(0);
  await writeFile(path, sound);
  expect((await read('a')).state.index.title).toBe('a');
});

it('a torn last line is ignored until it is complete', async () => {
  await written('a');
  const before = await read('a');
  const path = join(dirOf('a'), 'journal.ndjson');
  const line = `${JSON.stringify({ t: 1, r: [{ seq: 2, agent: 'main', type: 'session.meta.updated', title: 'whole', patch: {} }] })}\n`;
  await appendFile(path, line.slice(0, 20));
  expect((await read('a')).seq).toBe(before.seq);
  await appendFile(path, line.slice(20));
  expect(await read('a')).toMatchObject({ seq: 2, state: { index: { title: 'whole' } } });
});

it('reads folders without a journal', async () => {
  await mkdir(dirOf('a'));
  expect(await read('a')).toMatchObject({ length: 0, unsettled: false });
});

describe('taking', () => {
  it('transfers the fold: a later read folds from scratch', async () => {
    await written('a');
    const fold = await read('a');
    expect(await folds.take('a')).toBe(fold);
    expect(folds.kept().folds).toBe(0);
    expect(await folds.take('a')).toBeUndefined();
    expect(await read('a')).not.toBe(fold);
  });

  it('waits for a fold that is being read, also for one that is too long for the cache', async () => {
    await written('a');
    for (const maxBytes of [1, 100_000]) {
      folds = createColdFolds({ slots: createSemaphore(1), holder: leaseHolder(), maxBytes });
      const reading = read('a');
      expect(await folds.take('a')).toBe(await reading);
    }
  });

  it('leaves a fold that was settled only in memory in the cache', async () => {
    const log = await writer('a');
    log.append([event('main', 'turn.started', { turnId: 0, origin: { kind: 'user' }, prompt: '' })]);
    await log.close();
    expect(await read('a')).toMatchObject({ unsettled: true });
    expect(await folds.take('a')).toBeUndefined();
    expect(folds.kept().folds).toBe(1);
  });
});
