/** Search in the built server: its thread never ends the process, however the server ends while the index is filled. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { searchReplySchema } from '#schema/rest/search.ts';
import { makeBuiltHome, type BuiltHome } from '#support/built-home.ts';
import { eventually } from '#support/patience.ts';
import { spawnServer, type SpawnedServer } from '#support/server.ts';

const COPIES = 150;

let built: BuiltHome;
beforeAll(async () => {
  built = await makeBuiltHome();
  const server = await spawnServer({ home: built.home });
  const session = await server.api('POST', '/api/v1/sessions', { metadata: { cwd: built.project } });
  const { id } = z.object({ id: z.string() }).parse(session.data);
  for (let turn = 0; turn < 5; turn += 1) {
    built.model.enqueue({ text: `A narwhal was seen ${turn} times. ${'It went on swimming. '.repeat(200)}` });
    const content = [{ type: 'text', text: `How often was a narwhal seen? ${turn}` }];
    await server.api('POST', `/api/v1/sessions/${id}/prompts`, { content });
    await eventually(async () => {
      const { data } = await server.api('GET', `/api/v1/sessions/${id}`);
      expect(data).toMatchObject({ busy: false, last_turn_reason: 'completed' });
    });
  }
  for (let copy = 0; copy < COPIES; copy += 1) await server.api('POST', `/api/v1/sessions/${id}:fork`, {});
  expect(await server.stop()).toBe(0);
});
afterAll(() => built.remove());

const search = async (server: SpawnedServer, body: object) =>
  searchReplySchema.parse((await server.api('POST', '/api/v1/search', body)).data);

/** A server whose search thread is filling an empty index. */
async function startFilling(): Promise<SpawnedServer> {
  for (const suffix of ['', '-wal', '-shm'])
    await rm(join(built.home, 'cache', `search-v2.db${suffix}`), { force: true });
  const server = await spawnServer({ home: built.home });
  await search(server, { query: 'narwhal' });
  return server;
}

/** The output after the lines of the start. */
const printedLater = (server: SpawnedServer, before: string) => server.output().slice(before.length);

it.each<[string, (server: SpawnedServer) => Promise<number | null>]>([
  ['SIGTERM', (server) => server.stop('SIGTERM')],
  [
    'SIGTERM twice',
    (server) => {
      server.process.kill('SIGTERM');
      return server.stop('SIGTERM');
    },
  ],
  [
    'POST shutdown',
    async (server) => {
      const exited = new Promise<number | null>((resolve) => server.process.once('exit', resolve));
      await server.api('POST', '/api/v1/shutdown');
      return exited;
    },
  ],
])('%s during the first fill ends the server as always, and the index stays whole', async (_how, stop) => {
  const server = await startFilling();
  const before = server.output();
  expect(await stop(server)).toBe(0);
  expect(printedLater(server, before)).not.toMatch(/abort|error|fatal/i);

  const next = await spawnServer({ home: built.home });
  await eventually(async () => {
    const { index_state } = await search(next, { query: 'narwhal' });
    expect(index_state).toMatchObject({ state: 'ready', indexed_sessions: COPIES + 1 });
    expect(index_state).not.toHaveProperty('degraded');
  });
  expect(await next.stop()).toBe(0);
});

it('kill -9 during the fill and while sessions change leaves an index that is completed later', async () => {
  for (let round = 0; round < 5; round += 1) {
    const server = await (round === 0 ? startFilling() : spawnServer({ home: built.home }));
    await search(server, { query: 'narwhal' });
    await server.stop('SIGKILL');
  }
  const server = await spawnServer({ home: built.home });
  const seen = new Set<string>();
  await eventually(async () => {
    const { index_state } = await search(server, { query: 'narwhal' });
    expect(index_state).toMatchObject({ state: 'ready', indexed_sessions: COPIES + 1 });
  });
  let page = await search(server, { query: 'narwhal', role: 'user', sort: 'time_asc', page_size: 50 });
  for (;;) {
    for (const hit of page.items) seen.add(`${hit.session_id} ${hit.turn}`);
    if (!page.has_more) break;
    const more = { query: 'narwhal', role: 'user', sort: 'time_asc', page_size: 50, page_token: page.page_token };
    page = await search(server, more);
  }
  expect(seen.size).toBe(5 * (COPIES + 1));
  expect(await server.stop()).toBe(0);
});
