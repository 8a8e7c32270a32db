/** The list of sessions over a real server; `tests/unit/sessions` covers the selection of rows further. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { sessionSchema } from '#schema/rest/session.ts';
import { workspaceIdOf } from '#server/workspaces/workspace-root.ts';
import { eventually } from '#support/patience.ts';
import { startServer, type TestServer } from '#support/server.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';
import { sessionFolder } from '#support/session-folder.ts';
import { startTalk } from '#support/talk.ts';
import { startWorld } from '#support/world.ts';
import { sessionDir, writeSession } from '../unit/sessions/index/index-fixtures.ts';

const START = Date.UTC(2026, 0, 1);
const ROOT = '/projects/one';
const OTHER_ROOT = '/projects/two';
const WORKSPACE = workspaceIdOf(ROOT);
const OTHER = workspaceIdOf(OTHER_ROOT);
/** A workspace id that older data used for the same root. */
const ALIAS = 'wd_one_00000000000a';

const pageSchema = z.object({ items: z.array(sessionSchema), has_more: z.boolean() });

describe('GET /sessions', () => {
  let server: TestServer;
  let home: string;
  beforeAll(async () => {
    home = await temporaryDirectory();
    const write = (id: string, second: number, more = {}, workspaceId = WORKSPACE) =>
      writeSession(home, id, { updatedAt: START + second * 1000, ...more }, { workspaceId });
    // Newest first: e, then d, c and b of the same time, then a. `z` is archived between them.
    await write('session_a', 1, { lastPrompt: 'Hi' });
    await write('session_b', 2);
    await write('session_c', 2, {}, ALIAS);
    await write('session_d', 2, { cwd: OTHER_ROOT, lastPrompt: 'Ho' }, OTHER);
    await write('session_e', 3, { lastTurnReason: 'failed', title: 'E', custom: { k: 1 } });
    await write('session_z', 2.5, { archived: true, archivedAt: START + 9000 });
    server = await startServer({ home });
  });
  afterAll(async () => {
    await server.close();
    await rm(home, { recursive: true, force: true });
  });

  const page = async (query: string) => pageSchema.parse((await server.api('GET', `/sessions${query}`)).data);
  /** The last letters of the ids, and `+` if there are more. */
  async function letters(query: string): Promise<string> {
    const { items, has_more } = await page(query);
    return items.map(({ id }) => id.slice(-1)).join('') + (has_more ? '+' : '');
  }

  it('has cold sessions as they were stored', async () => {
    const [newest] = (await page('?page_size=1')).items;
    expect(newest).toMatchObject({
      id: 'session_e',
      workspace_id: WORKSPACE,
      title: 'E',
      created_at: new Date(START).toISOString(),
      updated_at: new Date(START + 3000).toISOString(),
      archived: false,
      busy: false,
      main_turn_active: false,
      pending_interaction: 'none',
      last_turn_reason: 'failed',
      metadata: { k: 1, cwd: ROOT },
      agent_config: { model: '' },
    });
    expect(newest).not.toHaveProperty('archived_at');
    expect(newest).not.toHaveProperty('last_prompt');
    const [archived] = (await page('?archived_only=1')).items;
    expect(archived).toMatchObject({ archived: true, archived_at: new Date(START + 9000).toISOString() });
  });

  it.each([
    ['', 'edcba'],
    ['?include_archive=true', 'ezdcba'],
    ['?include_archive=0', 'edcba'],
    ['?archived_only=true', 'z'],
    ['?archived_only=false&include_archive=1', 'ezdcba'],
    ['?exclude_empty=1', 'da'],
    ['?page_size=2', 'ed+'],
    ['?page_size=5', 'edcba'],
    ['?page_size=100', 'edcba'],
    ['?before_id=session_d', 'cba'],
    ['?before_id=session_d&page_size=2', 'cb+'],
    ['?before_id=session_c&page_size=2', 'ba'],
    ['?after_id=session_a', 'edcb'],
    // The newest of the sessions after the cursor, not those next to it.
    ['?after_id=session_a&page_size=2', 'ed+'],
    ['?after_id=session_c&page_size=2', 'ed'],
    // Cursors that the filters exclude.
    ['?before_id=session_z', 'dcba'],
    ['?after_id=session_z', 'e'],
    [`?workspace_id=${OTHER}&before_id=session_e`, 'd'],
    ['?before_id=unknown', ''],
    ['?after_id=unknown&page_size=3', ''],
    ['?busy=true', ''],
    ['?busy=false&page_size=2', 'ed+'],
    [`?workspace_id=${WORKSPACE}`, 'ecba'],
    [`?workspace_id=${ALIAS}&include_archive=1`, 'ezcba'],
    [`?workspace_id=${OTHER}&page_size=1`, 'd'],
    ['?unknown=1', 'edcba'],
  ])('%s returns %s', async (query, expected) => {
    expect(await letters(query)).toBe(expected);
  });

  it.each([
    ['?page_size=0', 'page_size', 'Too small: expected number to be >=1'],
    ['?page_size=', 'page_size', 'Too small: expected number to be >=1'],
    ['?page_size=101', 'page_size', 'Too big: expected number to be <=100'],
    ['?page_size=x', 'page_size', 'Invalid input: expected number, received NaN'],
    ['?page_size=1&page_size=2', 'page_size', 'Invalid input: expected number, received NaN'],
    ['?busy=yes', 'busy', 'Invalid input: expected boolean, received string'],
    ['?before_id=', 'before_id', 'Too small: expected string to have >=1 characters'],
    ['?before_id=a&after_id=b', 'before_id', 'before_id and after_id are mutually exclusive'],
    ['?archived_only=1&include_archive=1', 'archived_only', 'archived_only and include_archive are mutually exclusive'],
    ['?workspace_id=one', 'workspace_id', 'workspace_id must be a wd_<slug>_<hash12> string'],
  ])('%s is refused', async (query, path, message) => {
    const answer = await server.api('GET', `/sessions${query}`);
    expect(answer).toMatchObject({ code: 40001, msg: `${path}: ${message}`, details: [{ path, message }] });
  });

  it('looks up the workspace after the schema check', async () => {
    const id = 'wd_gone_0123456789ab';
    const unknown = await server.api('GET', `/sessions?workspace_id=${id}`);
    expect(unknown).toMatchObject({ code: 40410, msg: `workspace ${id} does not exist` });
    expect(unknown.details).toBeUndefined();
    expect((await server.api('GET', `/sessions?workspace_id=${id}&page_size=0`)).code).toBe(40001);
  });

  it('has a default page size of 20 with archived_only', async () => {
    const other = await temporaryDirectory();
    for (let n = 0; n < 21; n++) await writeSession(other, `session_${n}`, { archived: true });
    const many = await startServer({ home: other });
    const { items, has_more } = pageSchema.parse((await many.api('GET', '/sessions?archived_only=1')).data);
    expect([items.length, has_more]).toEqual([20, true]);
    const all = pageSchema.parse((await many.api('GET', '/sessions?include_archive=1')).data);
    expect([all.items.length, all.has_more]).toEqual([21, false]);
    await many.close();
    await rm(other, { recursive: true, force: true });
  });
});

describe('with turns', () => {
  it('busy sessions are filtered before paging, and a new turn moves its session to the top', async () => {
    const world = await startWorld();
    const talks = [await startTalk(world), await startTalk(world), await startTalk(world)];
    const list = async (query: string) =>
      pageSchema.parse(await world.ok('GET', `/sessions${query}`)).items.map(({ id }) => id);
    const [oldest, middle] = talks;
    const held = world.model.enqueue({ text: 'Hi', hold: true });
    await oldest?.prompt('Hi');
    expect((await list(''))[0]).toBe(oldest?.session.id);
    expect(await list('?busy=true&page_size=1')).toEqual([oldest?.session.id]);
    expect(await list('?busy=false&page_size=100')).not.toContain(oldest?.session.id);
    held.release();
    await oldest?.nth('prompt.completed', 1);
    expect(await list('?busy=true')).toEqual([]);
    await middle?.turn('Ho', [{ text: 'Ho' }]);
    expect((await list('?exclude_empty=true')).toSorted()).toEqual([oldest?.session.id, middle?.session.id].toSorted());
    await world.close();
  });

  it('an index rebuilt from the folders returns the same list', async () => {
    const world = await startWorld();
    const done = await startTalk(world, { metadata: { cwd: world.project, k: { a: null } } });
    await done.turn('Works', [{ text: 'Yes.' }]);
    const failed = await startTalk(world, { metadata: { cwd: world.project }, title: 'Fails' });
    await failed.turn('Fails', [{ status: 400 }]);
    const archived = await startTalk(world);
    await world.ok('POST', `${archived.path}:archive`);
    await world.ok('POST', `${done.path}/profile`, { metadata: { more: true } });
    const lists = async () => [
      await world.ok('GET', '/sessions?include_archive=1'),
      await world.ok('GET', '/sessions?archived_only=1'),
      await world.ok('GET', `/sessions?workspace_id=${done.session.workspace_id}&page_size=2`),
      await world.ok('GET', '/workspaces'),
    ];
    const before = await lists();
    await world.restart();
    expect(await lists()).toEqual(before);
    await world.server.close();
    await rm(join(world.server.home, 'cache'), { recursive: true });
    await world.restart();
    expect(await lists()).toEqual(before);

    // Without `state.json` the rows are rebuilt from the journal.
    await world.server.close();
    const file = join(sessionFolder(world.server.home, failed.session), 'state.json');
    const document = await readFile(file, 'utf8');
    await rm(file);
    await rm(join(world.server.home, 'cache'), { recursive: true });
    await world.restart();
    expect(await lists()).toEqual(before);
    await writeFile(file, document);
    await world.close();
  });
});

it('returns more sessions than a portion has, each a single time, in a reply of one list', async () => {
  const home = await temporaryDirectory();
  const ids = Array.from({ length: 1_101 }, (_, place) => `session_${String(place).padStart(4, '0')}`);
  for (const [place, id] of ids.entries()) {
    await writeSession(home, id, { updatedAt: START + place, cwd: ROOT }, { workspaceId: WORKSPACE });
  }
  const server = await startServer({ home });
  try {
    const answer = await server.api('GET', '/sessions');
    const { items, has_more } = pageSchema.parse(answer.data);
    expect(items.map(({ id }) => id)).toEqual(ids.toReversed());
    expect(has_more).toBe(false);
    expect(answer).toMatchObject({ code: 0, msg: 'success', request_id: expect.any(String) });
    const raw = await (await server.fetch('/api/v1/sessions')).text();
    expect(raw.startsWith('{"code":0,"msg":"success","data":{"items":[{"id":')).toBe(true);
    expect((await server.fetch('/api/v1/sessions', { method: 'HEAD' })).status).toBe(200);
  } finally {
    await server.close();
    await rm(home, { recursive: true, force: true });
  }
});

it('follows folders that were added, changed and removed by hand', async () => {
  const home = await temporaryDirectory();
  for (const id of ['session_a', 'session_b', 'session_c']) await writeSession(home, id, { cwd: ROOT });
  const first = await startServer({ home });
  const list = async (server: TestServer) => {
    const { items } = pageSchema.parse((await server.api('GET', '/sessions?include_archive=true')).data);
    return items.map(({ id, archived }) => `${id}${archived ? ' (archived)' : ''}`);
  };
  expect(await list(first)).toEqual(['session_c', 'session_b', 'session_a']);
  await first.close();
  await rm(sessionDir(home, 'session_a'), { recursive: true });
  await writeSession(home, 'session_b', { archived: true }, { revision: 9 });
  await writeSession(home, 'session_d', { cwd: ROOT });
  const second = await startServer({ home });
  await eventually(async () => expect(await list(second)).toEqual(['session_d', 'session_c', 'session_b (archived)']));
  await second.close();
  await rm(home, { recursive: true, force: true });
});
