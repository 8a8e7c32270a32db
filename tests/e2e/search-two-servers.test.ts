/** Two built servers on one home write and read one search index; one of them fills it. */
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { searchReplySchema, type SearchReply } from '#schema/rest/search.ts';
import type { BuiltHome } from '#support/built-home.ts';
import { eventually } from '#support/patience.ts';
import { integrityOf, removeSearchFile } from '#support/search-file.ts';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';
import { converse, makeTalkativeHome, TURNS } from '#support/talkative-home.ts';

const SESSIONS = 60;
const preload = resolve(import.meta.dirname, '../support/hasty-minutes.cjs');

let built: BuiltHome;
let servers: [SpawnedServer, SpawnedServer];
beforeAll(async () => {
  built = await makeTalkativeHome(SESSIONS);
  built.model.answerBy(() => ({ text: 'The walrus was seen.' }));
  await removeSearchFile(built.home);
  const start = () => spawnServer({ home: built.home, preload });
  servers = [await start(), await start()];
});
afterAll(async () => {
  for (const server of servers) await server.close();
  await built.remove();
});

async function search(server: SpawnedServer, body: object): Promise<SearchReply> {
  const { code, msg, data } = await server.api('POST', '/search', body);
  expect(`${code} ${msg}`).toBe('0 success');
  return searchReplySchema.parse(data);
}

const found = async (server: SpawnedServer, query: string) =>
  new Set((await search(server, { query, role: 'user' })).items.map((hit) => hit.session_id));

/** The server that owns the lease of the fill. */
async function owner(): Promise<SpawnedServer | undefined> {
  const cache = join(built.home, 'cache');
  const [name = ''] = (await readdir(cache)).filter((file) => file.startsWith('search.lock.'));
  const text = await readFile(join(cache, name), 'utf8');
  const { pid } = z.object({ pid: z.number() }).parse(JSON.parse(text));
  return servers.find(({ process }) => process.pid === pid);
}

it('servers that write and search at the same time, during the first fill, refuse nothing and find all', async () => {
  const words = servers.map((_, index) => `observation${index}`);
  const talked = new AbortController();
  const searches = servers.map(async (server, index) => {
    for (let turn = 0; !talked.signal.aborted; turn += 1) {
      const mode = turn % 2 === 0 ? 'terms' : 'literal';
      await search(server, { query: turn % 3 === 0 ? 'narwhal' : words[1 - index], mode });
    }
  });
  const talks = servers.map(async (server, index) => {
    const prompts = Array.from({ length: 5 }, (_, turn) => `${words[index]} ${turn}`);
    return Promise.all(Array.from({ length: 3 }, () => converse(server, built.project, prompts)));
  });
  const ids = await Promise.all(talks).finally(() => talked.abort());
  await Promise.all(searches);
  for (const [index, server] of servers.entries()) {
    const others = new Set(ids[1 - index]);
    await eventually(async () => expect(await found(server, `${words[1 - index]}`)).toEqual(others));
  }
  for (const server of servers) expect(server.errors()).toBe('');
});

it('the lease changes hands when its owner is killed, and the other server completes the index', async () => {
  await removeSearchFile(built.home);
  for (const server of servers) await search(server, { query: 'narwhal' });
  const killed = await owner();
  const [survivor] = servers.filter((server) => server !== killed);
  if (!killed || !survivor) throw new Error('no server owns the lease');
  await eventually(async () => {
    const { index_state } = await search(survivor, { query: 'narwhal' });
    expect(index_state.indexed_sessions).toBeGreaterThan(1);
    expect(index_state.state).toBe('building');
  });
  await killed.stop('SIGKILL');
  await eventually(async () => {
    const { index_state } = await search(survivor, { query: 'narwhal' });
    expect(index_state).toMatchObject({ state: 'ready', indexed_sessions: index_state.total_sessions });
    expect(index_state).not.toHaveProperty('degraded');
  });
  expect(await owner()).toBe(survivor);
  const times = { query: 'narwhal', role: 'user', sort: 'time_asc', page_size: 50 };
  let page = await search(survivor, times);
  let narwhals = page.items.length;
  while (page.has_more) {
    page = await search(survivor, { ...times, page_token: page.page_token });
    narwhals += page.items.length;
  }
  expect(narwhals).toBe(TURNS * SESSIONS);
  expect(await survivor.stop()).toBe(0);
  expect(integrityOf(built.home)).toEqual(['ok']);
});
