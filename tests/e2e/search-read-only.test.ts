/** Search in a home whose cache cannot be written. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { searchReplySchema } from '#schema/rest/search.ts';
import { makeBuiltHome, type BuiltHome } from '#support/built-home.ts';
import { mountsForbidden } from '#support/namespace.ts';
import { eventually } from '#support/patience.ts';
import { searchFile } from '#support/search-file.ts';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';

const READ_ONLY_CACHE = 'mount --bind "$1/cache" "$1/cache"; mount -o remount,bind,ro "$1/cache"';

const search = async (server: SpawnedServer, body: object) => {
  const { code, msg, data } = await server.api('POST', '/search', body);
  expect(`${code} ${msg}`).toBe('0 success');
  return searchReplySchema.parse(data);
};

let built: BuiltHome;

/** A session in which a word was said; returns its id. */
async function say(server: SpawnedServer, word: string): Promise<string> {
  const { data } = await server.api('POST', '/sessions', { metadata: { cwd: built.project } });
  const { id } = z.object({ id: z.string() }).parse(data);
  built.model.enqueue({ text: `The ${word} was seen.` });
  await server.api('POST', `/sessions/${id}/prompts`, { content: [{ type: 'text', text: `Find the ${word}` }] });
  await eventually(async () => {
    expect((await server.api('GET', `/sessions/${id}`)).data).toMatchObject({ last_turn_reason: 'completed' });
  });
  return id;
}

const sessionsOf = ({ items }: z.infer<typeof searchReplySchema>) => new Set(items.map((hit) => hit.session_id));

describe.skipIf(mountsForbidden() !== undefined)('a cache that cannot be written', () => {
  let id: string;
  beforeAll(async () => {
    built = await makeBuiltHome();
    const server = await spawnServer({ home: built.home });
    id = await say(server, 'narwhal');
    await eventually(async () => {
      const reply = await search(server, { query: 'narwhal' });
      expect(reply.index_state.state).toBe('ready');
      expect(sessionsOf(reply)).toContain(id);
    });
    expect(await server.stop()).toBe(0);
  });
  afterAll(() => built.remove());

  async function start(): Promise<SpawnedServer> {
    const server = await spawnServer({ home: built.home, mounts: READ_ONLY_CACHE });
    onTestFinished(async () => void (await server.stop()));
    return server;
  }

  it('is served as it is, and loaded sessions are indexed in memory', async () => {
    const server = await start();
    const { items, index_state, source } = await search(server, { query: 'narwhal', role: 'user' });
    expect({ index_state, source }).toMatchObject({ index_state: { state: 'readonly' }, source: 'index' });
    expect(items).toEqual([expect.objectContaining({ session_id: id, snippet: 'Find the narwhal' })]);

    const live = await say(server, 'beluga');
    const page = await search(server, { query: 'beluga seen', container: { session_id: live }, role: 'assistant' });
    expect(page).toMatchObject({ source: 'live', index_state: { state: 'ready', documents: 3 } });
    expect(page.items).toEqual([expect.objectContaining({ session_id: live, snippet: 'The beluga was seen.' })]);
    // What could not be written is missing, and the reply says so.
    await eventually(async () => {
      const { items: none, index_state: state } = await search(server, { query: 'beluga' });
      expect(none).toEqual([]);
      expect(state).toMatchObject({ state: 'readonly', stale: true, degraded: expect.any(String) });
    });
    // That does not concern a loaded session.
    const again = await search(server, { query: 'beluga', container: { session_id: live } });
    expect(again.index_state).toEqual({ state: 'ready', indexed_sessions: 1, total_sessions: 1, documents: 3 });
  });

  it('is served without the companion files of a database', async () => {
    const file = searchFile(built.home);
    const database = new Database(file);
    database.pragma('wal_checkpoint(TRUNCATE)');
    database.close();
    for (const suffix of ['-wal', '-shm']) await rm(file + suffix, { force: true });
    const reply = await search(await start(), { query: 'narwhal' });
    expect(sessionsOf(reply)).toContain(id);
    expect(reply.index_state.state).toBe('readonly');
  });

  it('gives an empty page where there is no index', async () => {
    const cache = join(built.home, 'cache');
    for (const name of await readdir(cache)) await rm(join(cache, name), { recursive: true });
    const server = await start();
    const page = await search(server, { query: 'narwhal' });
    expect(page).toMatchObject({ items: [], has_more: false, index_state: { state: 'readonly', documents: 0 } });
  });
});
