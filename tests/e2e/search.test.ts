/** Search in the built server: its thread never ends the process, however the server ends while the index is filled. */
import { cp, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { stringify } from '@decimalturn/toml-patch';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { searchReplySchema } from '#schema/rest/search.ts';
import type { BuiltHome } from '#support/built-home.ts';
import { eventually, PATIENCE_MS } from '#support/patience.ts';
import { integrityOf, removeSearchFile } from '#support/search-file.ts';
import { BUILT_ENTRY, spawnServer, type SpawnedServer } from '#support/spawned-server.ts';
import { converse, makeTalkativeHome, TURNS } from '#support/talkative-home.ts';

const SESSIONS = 120;
/** A fill of all of them takes seconds, and longer than any other wait on a busy machine. */
const FILL_PATIENCE_MS = 4 * PATIENCE_MS;

let built: BuiltHome;
/** The program of a copy of the built output. */
let entry: string;
/** `config.toml` of the home. */
let configuration: string;
beforeAll(async () => {
  built = await makeTalkativeHome(SESSIONS);
  configuration = await readFile(join(built.home, 'config.toml'), 'utf8');
  await cp(join(dirname(BUILT_ENTRY), '..'), join(built.root, 'app'), { recursive: true });
  entry = join(built.root, 'app', 'server', 'index.mjs');
});
afterAll(() => built.remove());

const search = async (server: SpawnedServer, body: object) =>
  searchReplySchema.parse((await server.api('POST', '/api/v1/search', body)).data);

const startServer = () => spawnServer({ home: built.home, entry, cwd: built.root });

/** A server whose search thread is filling an empty index. */
async function startFilling(): Promise<SpawnedServer> {
  await removeSearchFile(built.home);
  const server = await startServer();
  await eventually(async () => {
    const { index_state } = await search(server, { query: 'narwhal' });
    expect(index_state.indexed_sessions).toBeGreaterThan(1);
  });
  return server;
}

/** Resolves when the log has the line of a stop. */
const stopping = (server: SpawnedServer) =>
  eventually(async () => {
    const log = await readFile(join(server.home, 'logs', 'service-code.log'), 'utf8');
    expect(log.slice(log.lastIndexOf('server started'))).toContain('server stopping');
  });

/** Opens a request whose body never arrives: the stop waits for it, as long as it may. */
async function openRequest(server: SpawnedServer): Promise<void> {
  const { port } = new URL(server.url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => undefined);
  const headers = [`Host: 127.0.0.1:${port}`, `Authorization: Bearer ${server.token}`, 'Content-Length: 10'];
  socket.write(`POST /api/v1/search HTTP/1.1\r\n${headers.join('\r\n')}\r\nExpect: 100-continue\r\n\r\n`);
  await new Promise((resolve) => socket.once('data', resolve));
}

const exitOf = (server: SpawnedServer) =>
  new Promise<number | null>((resolve) => server.process.once('exit', (code) => resolve(code)));

type End = (server: SpawnedServer) => Promise<number | null>;

describe('the end of the server during the first fill', () => {
  it.each<[string, number, End]>([
    ['SIGTERM', 0, (server) => server.stop('SIGTERM')],
    [
      'a second SIGTERM',
      130,
      async (server) => {
        await openRequest(server);
        const exited = exitOf(server);
        server.process.kill('SIGTERM');
        await stopping(server);
        server.process.kill('SIGTERM');
        return exited;
      },
    ],
    [
      'POST shutdown',
      0,
      async (server) => {
        const exited = exitOf(server);
        await server.api('POST', '/api/v1/shutdown');
        return exited;
      },
    ],
    [
      'SIGTERM while a request never completes',
      0,
      async (server) => {
        await openRequest(server);
        return server.stop('SIGTERM');
      },
    ],
  ])('by %s exits with %i, prints no error, and leaves the index intact', async (_how, code, end) => {
    const server = await startFilling();
    expect(await end(server)).toBe(code);
    expect(server.errors()).toBe('');
    expect(integrityOf(built.home)).toEqual(['ok']);
  });

  it('at the time limit of the stop, with a session that cannot be closed, is the same', async () => {
    const hooks = [{ event: 'SessionEnd', command: 'sleep 60', timeout: 60 }];
    await writeFile(join(built.home, 'config.toml'), `${configuration}\n${stringify({ hooks })}`);
    const server = await startFilling();
    built.model.enqueue({ text: 'Yes.' });
    await converse(server, built.project, ['Is a walrus there?']);
    const begun = performance.now();
    expect(await server.stop('SIGTERM')).toBe(0);
    // Without the limit it would take as long as the hook.
    expect(performance.now() - begun).toBeLessThan(50_000);
    expect(server.errors()).toBe('');
    expect(integrityOf(built.home)).toEqual(['ok']);
    await writeFile(join(built.home, 'config.toml'), configuration);
  });
});

it('kill -9 during the fill and while sessions change leaves an index that is completed later', async () => {
  for (let round = 0; round < 3; round += 1) {
    const server = await (round === 0 ? startFilling() : startServer());
    await search(server, { query: 'narwhal' });
    await server.stop('SIGKILL');
    expect(integrityOf(built.home)).toEqual(['ok']);
  }
  const server = await startServer();
  const seen = new Set<string>();
  await eventually(async () => {
    const { index_state } = await search(server, { query: 'narwhal' });
    expect(index_state).toMatchObject({ state: 'ready', indexed_sessions: index_state.total_sessions });
    expect(index_state).not.toHaveProperty('degraded');
  }, FILL_PATIENCE_MS);
  let page = await search(server, { query: 'narwhal', role: 'user', sort: 'time_asc', page_size: 50 });
  for (;;) {
    for (const hit of page.items) seen.add(`${hit.session_id} ${hit.turn}`);
    if (!page.has_more) break;
    const more = { query: 'narwhal', role: 'user', sort: 'time_asc', page_size: 50, page_token: page.page_token };
    page = await search(server, more);
  }
  expect(seen.size).toBe(TURNS * SESSIONS);
  expect(await server.stop()).toBe(0);
});
