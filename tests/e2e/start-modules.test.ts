/** The modules that the built server loads until its first reply. Build first. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '#support/patience.ts';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';

const preload = resolve(import.meta.dirname, '../support/recorded-modules.cjs');

let server: SpawnedServer;
let file: string;
beforeAll(async () => {
  file = join(await temporaryDirectory(), 'modules');
  server = await spawnServer({ preload, env: { LOADED_MODULES: file } });
});
afterAll(() => server.close());

/** Modules of the search index: the program of its thread, and the library of its file. */
async function searchModules(): Promise<string[]> {
  const names = (await readFile(file, 'utf8')).split('\n');
  return names.filter((name) => /search-program|libsql/.test(name));
}

it('has loaded nothing of search at its first healthy reply, and loads it with the first search', async () => {
  const { status } = await server.fetch('/api/v1/healthz');
  expect(status).toBe(200);
  expect(await searchModules()).toEqual([]);
  await server.api('POST', '/search', { query: 'anything' });
  await eventually(async () => {
    const names = await searchModules();
    for (const part of ['search-program', 'libsql']) expect(names.some((name) => name.includes(part))).toBe(true);
  });
});
