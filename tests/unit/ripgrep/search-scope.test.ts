import { expect, test } from 'vitest';
import { newestFirst } from '#server/ripgrep/search-scope.ts';

/** Files named by their times; files of other names were removed. */
function dated() {
  let stats = 0;
  const stat = async (path: string) => {
    stats++;
    const mtimeMs = Number(path.slice(path.lastIndexOf('/') + 1));
    if (Number.isNaN(mtimeMs)) throw new Error('ENOENT');
    return { isFile: () => true, isDirectory: () => false, size: 0, mtimeMs, ctimeMs: mtimeMs, ino: 0, uid: 0 };
  };
  return { runtime: { stat }, count: () => stats };
}

test('newest first, in steps; omits files that were removed', async () => {
  const { runtime } = dated();
  const order = (stepMs: number) =>
    newestFirst('/d', ['5', '12', 'gone', '30', '11'], { runtime, stepMs, signal: new AbortController().signal });
  expect(await order(1)).toEqual({ names: ['30', '12', '11', '5'], undated: 0 });
  expect(await order(10)).toEqual({ names: ['30', '11', '12', '5'], undated: 0 });
});

test('reads the age of a limited number of files', async () => {
  const { runtime, count } = dated();
  const names = Array.from({ length: 500 }, (_, index) => String(index));
  const { signal } = new AbortController();
  const found = await newestFirst('/d', names, { runtime, stepMs: 1, signal, limit: 100 });
  expect([found.names.length, found.names[0], found.undated, count()]).toEqual([500, '99', 400, 100]);
});

test('rejects on an abort', async () => {
  const stop = new AbortController();
  const { runtime, count } = dated();
  const names = Array.from({ length: 500 }, (_, index) => String(index));
  const running = newestFirst('/d', names, { runtime, stepMs: 1, signal: stop.signal });
  stop.abort(new Error('stop'));
  await expect(running).rejects.toThrow('stop');
  expect(count()).toBeLessThan(500);
});
