/** The files that start the server: what must happen before any other module is loaded. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const bin = join(import.meta.dirname, '../../../bin');

test('handle SIGUSR1 and start 16 threads first', async () => {
  const names = (await readdir(bin)).filter((name) => /^(service-code|demo|dev)\.cjs$/.test(name));
  expect(names).toHaveLength(3);
  for (const name of names) {
    const statements = (await readFile(join(bin, name), 'utf8')).split('\n').filter((line) => !/^(#!|\/\/)/.test(line));
    expect([name, ...statements.slice(0, 2)]).toEqual([
      name,
      "require('./debug-signal.cjs');",
      "require('./thread-pool.cjs');",
    ]);
  }
});
