/** `POST /search`: what was said in all sessions. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { searchReplySchema, type SearchReply } from '#schema/rest/search.ts';
import { eventually } from '#support/patience.ts';
import { searchFile } from '#support/search-file.ts';
import { startServer } from '#support/server.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';
import { call, startTalk, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeAll(async () => (world = await startWorld({ config: { default_permission_mode: 'yolo' } })));
afterAll(() => world.close());

const search = async (body: object): Promise<SearchReply> =>
  searchReplySchema.parse(await world.ok('POST', '/search', body));
const refused = (body: object) => world.api('POST', '/api/v1/search', body);

/** A session with one turn. */
async function talkOf(prompt: string, answer: string): Promise<Talk> {
  const talk = await startTalk(world);
  await talk.turn(prompt, [{ text: answer }]);
  return talk;
}

/** The first page when it satisfies the condition. */
async function until(body: object, holds: (reply: SearchReply) => boolean): Promise<SearchReply> {
  let reply = await search(body);
  await eventually(async () => {
    reply = await search(body);
    expect(reply).toSatisfy(holds);
  });
  return reply;
}

const isReady = ({ index_state }: SearchReply) => index_state.state === 'ready';
const sessionsOf = ({ items }: SearchReply) => [...new Set(items.map((hit) => hit.session_id))];

describe('POST /search', () => {
  it('serves what is indexed while the index of a new home is filled, without pages to come', async () => {
    const server = await startServer();
    onTestFinished(() => server.close());
    const { data } = await server.api('POST', '/api/v1/search', { query: 'anything' });
    expect(data).toMatchObject({ items: [], has_more: false, source: 'index' });
    expect(searchReplySchema.parse(data).index_state).toMatchObject({ state: 'building', stale: true });
  });

  it('finds the prompt and the answer of a loaded session immediately, with their place', async () => {
    const { session } = await talkOf('Where do zebrafish swim?', 'In the 世界 of rivers.');
    const live = await search({ query: 'zebrafish', container: { session_id: session.id } });
    expect(live).toMatchObject({
      source: 'live',
      has_more: false,
      index_state: { state: 'ready', indexed_sessions: 1, total_sessions: 1, documents: 3 },
    });
    expect(live.items.map(({ role }) => role).toSorted()).toEqual(['title', 'user']);
    const { items } = await until({ query: '世界', role: 'assistant' }, isReady);
    expect(items).toEqual([
      {
        session_id: session.id,
        workspace_id: session.workspace_id,
        session_title: 'Where do zebrafish swim?',
        agent_id: 'main',
        role: 'assistant',
        snippet: 'In the 世界 of rivers.',
        time: expect.any(Number),
        turn: 0,
        step_id: 't0.1',
        score: expect.any(Number),
      },
    ]);
    expect(items[0]?.score).toBeGreaterThan(0);
  });

  it('finds the answer of a subagent', async () => {
    const talk = await startTalk(world);
    const args = { description: 'Look', prompt: 'Look for walruses', subagent_type: 'explore' };
    await talk.turn('Delegate', [
      { calls: [call('Agent', args)] },
      { text: `A walrus was seen. ${'It swam. '.repeat(40)}` },
      { text: 'Done.' },
    ]);
    const { items } = await until({ query: 'walrus seen' }, ({ items: found }) => found.length > 0);
    expect(items[0]).toMatchObject({ session_id: talk.session.id, role: 'assistant' });
    expect(items[0]?.agent_id).not.toBe('main');
  });

  it('finds parts of identifiers in literal mode, and words in terms mode only whole', async () => {
    const { session } = await talkOf('Rename parseQuasarConfig(', 'Renamed.');
    const literal = { query: 'QuasarConf', mode: 'literal', container: { session_id: session.id } };
    expect((await search(literal)).items.map(({ role, score }) => [role, score])).toContainEqual(['user', 0]);
    expect((await search({ ...literal, mode: 'terms' })).items).toEqual([]);
  });

  it('forgets what an undo removed', async () => {
    const talk = await talkOf('Remember the axolotl', 'Noted.');
    await talk.turn('Remember the capybara', [{ text: 'The capybara is noted.' }]);
    const inSession = { container: { session_id: talk.session.id }, role: 'user' };
    expect((await search({ query: 'capybara', ...inSession })).items).toHaveLength(1);
    await world.ok('POST', `${talk.path}:undo`);
    expect((await search({ query: 'capybara', ...inSession })).items).toEqual([]);
    expect((await search({ query: 'axolotl', ...inSession })).items).toHaveLength(1);
  });

  it('hides archived sessions immediately, and shows them immediately when they are restored', async () => {
    const talk = await talkOf('A platypus question', 'A platypus answer.');
    const query = { query: 'platypus' };
    await until(query, (reply) => sessionsOf(reply).includes(talk.session.id));
    await world.ok('POST', `${talk.path}:archive`);
    expect(sessionsOf(await search(query))).toEqual([]);
    await world.ok('POST', `${talk.path}:restore`);
    expect(sessionsOf(await search(query))).toEqual([talk.session.id]);
  });

  it('has the present title, also of a session that was renamed', async () => {
    const talk = await talkOf('About the okapi', 'It is shy.');
    await world.ok('POST', `${talk.path}/profile`, { title: 'Forest giraffes' });
    const reply = await until({ query: 'okapi', role: 'user' }, ({ items }) => items.length > 0);
    expect(reply.items[0]).toMatchObject({ session_title: 'Forest giraffes' });
    const titles = { query: 'forest giraffes', role: 'title' };
    const { items } = await until(titles, (page) => page.items.length > 0);
    expect(items).toEqual([expect.objectContaining({ agent_id: '', role: 'title', snippet: 'Forest giraffes' })]);
    expect(items[0]).not.toHaveProperty('turn');
  });

  it('searches one workspace, and nothing for unknown containers', async () => {
    const { session } = await talkOf('A tapir here', 'Yes.');
    const within = (container: object) => search({ query: 'tapir', role: 'user', container });
    await until({ query: 'tapir', role: 'user' }, ({ items }) => items.length > 0);
    expect(sessionsOf(await within({ workspace_id: session.workspace_id }))).toEqual([session.id]);
    expect((await within({ workspace_id: 'wd_unknown_0123456789ab' })).items).toEqual([]);
    expect((await within({ session_id: 'session_unknown' })).items).toEqual([]);
    expect((await search({ query: 'tapir', start_time: 10, end_time: 5 })).items).toEqual([]);
    expect(await refused({ query: 'tapir', container: { workspace_id: 'nonsense' } })).toMatchObject({
      code: 40001,
      details: [{ path: 'container.workspace_id' }],
    });
  });
});

it('searches a workspace under any of its ids', async () => {
  const { session } = await talkOf('A gharial basks', 'It does.');
  const alias = 'wd_alias_00000000000a';
  const file = join(world.server.home, 'workspaces.json');
  await world.restart(async () => {
    const registrySchema = z.looseObject({ workspaces: z.record(z.string(), z.json()) });
    const registry = registrySchema.parse(JSON.parse(await readFile(file, 'utf8')));
    registry.workspaces[alias] = registry.workspaces[session.workspace_id] ?? null;
    await writeFile(file, JSON.stringify(registry));
  });
  const query = { query: 'gharial', role: 'user', container: { workspace_id: alias } };
  expect(sessionsOf(await until(query, ({ items }) => items.length > 0))).toEqual([session.id]);
});

it('finds a fork and its source', async () => {
  const talk = await talkOf('A saola hides', 'It does.');
  const fork = z.object({ id: z.string() }).parse(await world.ok('POST', `${talk.path}:fork`, {}));
  const query = { query: 'saola', role: 'user' };
  const reply = await until(query, ({ items }) => items.length === 2);
  expect(sessionsOf(reply).toSorted()).toEqual([talk.session.id, fork.id].toSorted());
});

it('reports an index that cannot be opened', async () => {
  const home = await temporaryDirectory();
  await writeFile(join(home, 'cache'), 'a file');
  const server = await startServer({ home });
  onTestFinished(async () => {
    await server.close();
    await rm(home, { recursive: true });
  });
  const answer = await server.api('POST', '/api/v1/search', { query: 'anything' });
  expect(answer).toMatchObject({ code: 50001, data: null });
});

it('lets 64 searches wait, and refuses further ones', async () => {
  const home = await temporaryDirectory();
  const cache = join(home, 'cache');
  await mkdir(cache);
  // The thread waits for this transaction while it creates its tables.
  const blocker = new Database(searchFile(home));
  blocker.exec('PRAGMA journal_mode = WAL; BEGIN IMMEDIATE');
  const server = await startServer({ home });
  onTestFinished(async () => {
    await server.close();
    await rm(home, { recursive: true });
  });
  const codes: number[] = [];
  const searches = Array.from({ length: 80 }, async () => {
    const { code } = await server.api('POST', '/api/v1/search', { query: 'anything' });
    codes.push(code);
  });
  // One that opens the index waits, too.
  await eventually(() => expect(codes).toHaveLength(80 - 63));
  expect(new Set(codes)).toEqual(new Set([50001]));
  blocker.exec('COMMIT');
  blocker.close();
  await Promise.all(searches);
  expect(codes.filter((code) => code === 0)).toHaveLength(63);
});

describe('its pages', () => {
  it('go on with another size, and end with other conditions', async () => {
    const talk = await talkOf('ibex', 'ibex ibex');
    for (let turn = 0; turn < 4; turn += 1) await talk.turn('ibex again', [{ text: `ibex ${turn}` }]);
    const query = { query: 'ibex', sort: 'time_asc' };
    await until({ ...query, page_size: 50 }, (reply) => isReady(reply) && reply.items.length === 11);
    const seen: string[] = [];
    let reply = await search({ ...query, page_size: 4 });
    const first = reply.page_token;
    for (let size = 3; ; size += 1) {
      seen.push(...reply.items.map(({ time, role, turn }) => `${time} ${role} ${turn}`));
      expect(reply.page_token === undefined).toBe(!reply.has_more);
      if (!reply.has_more) break;
      reply = await search({ ...query, page_size: size, page_token: reply.page_token });
    }
    expect(new Set(seen).size).toBe(11);
    for (const changed of [{ query: 'ibex again' }, { op: 'OR' }, { sort: 'time_desc' }, { role: 'user' }]) {
      expect(await refused({ ...query, ...changed, page_token: first })).toMatchObject({
        code: 40001,
        details: [{ path: 'page_token' }],
      });
    }
    const other = await startServer();
    onTestFinished(() => other.close());
    await eventually(async () => {
      const { data } = await other.api('POST', '/api/v1/search', query);
      expect(searchReplySchema.parse(data)).toSatisfy(isReady);
    });
    for (const answer of [
      await refused({ ...query, page_token: 'nonsense' }),
      await refused({ ...query, page_token: first?.slice(0, -1) }),
      await other.api('POST', '/api/v1/search', { ...query, page_token: first }),
    ]) {
      expect(answer).toMatchObject({ code: 40001, details: [{ path: 'page_token' }] });
    }
  });

  it.each([
    [{ query: ' ' }, 'query'],
    [{ query: '' }, 'query'],
    [{ query: 'x', mode: 'literal' }, 'query'],
    [{ query: 'x', page_size: 51 }, 'page_size'],
    [{ query: 'x', page_token: 'x'.repeat(4097) }, 'page_token'],
  ])('are refused for %j', async (body, path) => {
    expect(await refused(body)).toMatchObject({ code: 40001, details: [{ path }] });
  });
});

describe('the index', () => {
  it('is filled from the sessions of the home, after a restart and without its file', async () => {
    const { session } = await talkOf('The quokka smiles', 'It does.');
    const query = { query: 'quokka', role: 'user' };
    const file = searchFile(world.server.home);
    await world.restart(async () => {
      for (const suffix of ['', '-wal', '-shm']) await rm(file + suffix, { force: true });
    });
    expect(sessionsOf(await until(query, isReady))).toEqual([session.id]);
  });

  it('is made again when its file is damaged', async () => {
    const { session } = await talkOf('The numbat eats', 'Termites.');
    const file = searchFile(world.server.home);
    await world.restart(async () => {
      for (const suffix of ['-wal', '-shm']) await rm(file + suffix, { force: true });
      await truncate(file, 8192);
      await writeFile(file, 'no database', { flag: 'r+' });
    });
    expect(sessionsOf(await until({ query: 'numbat', role: 'user' }, isReady))).toEqual([session.id]);
  });

  it('is filled after the start without a search, and readable by its user only', async () => {
    const home = await temporaryDirectory();
    const file = searchFile(home);
    const server = await startServer({ home, searchTimes: { startAfterMs: 1, everyMs: 50 } });
    onTestFinished(async () => {
      await server.close();
      await rm(home, { recursive: true });
    });
    // Opening would create it.
    await eventually(() => expect(existsSync(file)).toBe(true));
    await eventually(() => {
      const database = new Database(file);
      try {
        expect(database.prepare(`SELECT 1 FROM facts WHERE name = 'filled'`).all()).toHaveLength(1);
      } finally {
        database.close();
      }
    });
    for (const suffix of ['', '-wal', '-shm']) expect((await stat(file + suffix)).mode & 0o777).toBe(0o600);
    const { data } = await server.api('POST', '/api/v1/search', { query: 'anything' });
    expect(isReady(searchReplySchema.parse(data))).toBe(true);
  });

  it('is made again as another generation when its file is removed while the server runs', async () => {
    const { session } = await talkOf('The kakapo climbs', 'The kakapo does.');
    const query = { query: 'kakapo' };
    const page = { ...query, page_size: 1 };
    const first = await until(page, (reply) => isReady(reply) && reply.has_more);
    const file = searchFile(world.server.home);
    for (const suffix of ['', '-wal', '-shm']) await rm(file + suffix, { force: true });
    expect(sessionsOf(await until(query, (reply) => isReady(reply) && reply.items.length >= 3))).toEqual([session.id]);
    expect(await refused({ ...page, page_token: first.page_token })).toMatchObject({
      code: 40001,
      details: [{ path: 'page_token' }],
    });
  });

  it('of an older version is removed after a start', async () => {
    const old = join(world.server.home, 'cache', 'search-v1.db');
    await world.restart(() => writeFile(old, ''));
    await eventually(() => expect(existsSync(old)).toBe(false));
    expect(existsSync(searchFile(world.server.home))).toBe(true);
  });

  it('has the sessions of another server of the home', async () => {
    const { session } = await talkOf('The dugong grazes', 'Sea grass.');
    const other = await startServer({ home: world.server.home });
    onTestFinished(() => other.close());
    await eventually(async () => {
      const { data } = await other.api('POST', '/api/v1/search', { query: 'dugong', role: 'user' });
      expect(sessionsOf(searchReplySchema.parse(data))).toEqual([session.id]);
    });
  });
});
