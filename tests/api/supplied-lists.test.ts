/** `mcp_servers` and `additional_dirs` of a session: in effect while it is loaded, and stored nowhere. */
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { callFate } from '#support/call-fate.ts';
import { hostile, mcpTalks, noted, type McpTalks, serverStatuses } from '#support/mcp-talk.ts';
import { sessionSchema } from '#schema/rest/session.ts';
import { callThenText, resumeTalk, startTalk, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

const everything = join(
  import.meta.dirname,
  '../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
);

let world: World;
let mcp: McpTalks;
let outside: string;
beforeAll(async () => {
  world = await startWorld({ config: { default_permission_mode: 'yolo' } });
  mcp = mcpTalks(world);
  outside = join(dirname(world.project), 'outside-of-the-workspace');
  await mkdir(outside);
  await writeFile(join(outside, 'x.txt'), 'from outside\n');
});
afterEach(() => mcp.endAll());
afterAll(() => world.close());

/** The misbehaving server, as the entry of a session. */
const own = (name: string, modes = '', file = '') => ({
  name,
  transport: 'stdio',
  runtime_id: 'local',
  ...hostile(modes, file),
});
const supply = (talk: Talk, body: unknown) => world.api('POST', `${talk.path}/profile`, body);
const turn = (talk: Talk) => talk.turn('go', [{ text: 'Done.' }]);
const result = async (talk: Talk, name: string, args: unknown) =>
  (await talk.turn('go', callThenText(name, args))).results[0];

async function filesOf(directory: string): Promise<Buffer[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name))));
}

test('a server joins at the next turn, for this session only, and is closed when the list is emptied', async () => {
  const file = mcp.notes();
  const [talk, other] = [await mcp.talk(), await mcp.talk()];
  await turn(talk);
  const all = { name: 'all', transport: 'stdio', runtime_id: 'local', command: process.execPath };
  const lists = { mcp_servers: [{ ...all, args: [everything, 'stdio'] }, own('mine', '', file)] };
  expect(await supply(talk, lists)).toMatchObject({ code: 0 });
  expect(await mcp.toolNames(talk)).toEqual([]);
  expect(await result(talk, 'mcp__all__echo', { message: 'hi' })).toMatchObject({ output: 'Echo: hi' });
  expect(await mcp.toolNames(talk)).toContain('mcp__mine__echo');
  await turn(other);
  expect(await mcp.toolNames(other)).toEqual([]);
  // An absent list is unchanged; the equal list starts nothing again.
  await supply(talk, { title: 'x' });
  await supply(talk, { mcp_servers: [own('mine', '', file)] });
  await talk.nth('mcp.server.status', 5);
  expect(serverStatuses(talk, 'all')).toEqual(['pending', 'connected', 'removed']);
  await turn(talk);
  expect(await mcp.toolNames(talk)).toEqual(['mcp__mine__echo']);
  expect((await noted(file)).match(/started/g)).toHaveLength(1);
  await supply(talk, { mcp_servers: [] });
  expect(await mcp.toolNames(talk)).toEqual([]);
  await talk.nth('mcp.server.status', 6);
  expect(serverStatuses(talk, 'mine')).toEqual(['pending', 'connected', 'removed']);
});

test('a server of the session hides the configured one of its name until it is gone', async () => {
  const [shared, mine] = [mcp.notes(), mcp.notes()];
  await mcp.configure({ one: hostile('', shared) });
  const talk = await mcp.talk();
  await supply(talk, { mcp_servers: [{ ...own('one', '', mine), enabledTools: [] }] });
  await turn(talk);
  expect(await mcp.toolNames(talk)).toEqual([]);
  expect(await noted(mine)).toContain('started');
  expect((await mcp.servers()).map(({ name, tool_count }) => [name, tool_count])).toEqual([['one', 0]]);
  await supply(talk, { mcp_servers: [] });
  expect(await mcp.toolNames(talk)).toEqual(['mcp__one__echo']);
  expect(await result(talk, 'mcp__one__echo', { text: 'hi' })).toMatchObject({ output: 'echo: hi' });
  await mcp.configure({});
});

test('entries are used as written, and a program must name its runtime', async () => {
  const talk = await mcp.talk();
  const { runtime_id: _, ...unplaced } = own('unplaced');
  const written = { ...own('written'), command: '${SHELL}/secret-program' };
  await supply(talk, { mcp_servers: [unplaced, written, { name: 'far', transport: 'http', url: '${HOME}' }] });
  await turn(talk);
  const errors = Object.fromEntries((await mcp.servers()).map(({ name, last_error }) => [name, last_error]));
  expect(errors).toEqual({
    unplaced: 'a stdio server of a session must name its runtime_id',
    written: expect.stringContaining('ENOENT'),
    far: 'the URL of the server is invalid',
  });
  expect(errors.written).not.toContain('secret-program');
});

test('a directory extends this session from the next call on', async () => {
  const [talk, other] = [await startTalk(world), await startTalk(world)];
  const path = join(outside, 'x.txt');
  expect(await callFate(talk, 'Read', { path })).toBe('asked');
  await supply(talk, { additional_dirs: [outside] });
  expect(await callFate(talk, 'Read', { path })).toContain('from outside');
  expect(await callFate(other, 'Read', { path })).toBe('asked');
  await supply(talk, { additional_dirs: [] });
  expect(await callFate(talk, 'Read', { path })).toBe('asked');
});

test('both lists are gone after an unload, in no copy, and in no byte of the home', async () => {
  const secret = 'value-that-nobody-may-store';
  const lists = {
    mcp_servers: [{ ...own('mine'), env: { KEY: secret }, cwd: outside, args: [...hostile().args, secret] }],
    additional_dirs: [outside],
  };
  const talk = await startTalk(world, { metadata: { cwd: world.project }, ...lists });
  await turn(talk);
  expect(await mcp.toolNames(talk)).toEqual(['mcp__mine__echo']);
  const copy = await resumeTalk(world, sessionSchema.parse(await world.ok('POST', `${talk.path}:fork`, {})));
  expect(await callFate(copy, 'Read', { path: join(outside, 'x.txt') })).toBe('asked');
  expect(await mcp.toolNames(copy)).toEqual([]);
  expect(JSON.stringify(await world.ok('GET', talk.path))).not.toContain('outside-of-the-workspace');
  await world.ok('POST', `${talk.path}:archive`);
  await world.ok('POST', `${talk.path}:restore`);
  expect(await callFate(talk, 'Read', { path: join(outside, 'x.txt') })).toBe('asked');
  expect(await mcp.toolNames(talk)).toEqual([]);
  for (const bytes of await filesOf(world.server.home)) expect(bytes.includes(secret)).toBe(false);
});

test.each([
  [{ mcp_servers: [own('a'), own('b'), own('a')] }, 40001, 'mcp_servers.2.name'],
  [{ mcp_servers: [{ name: 'a', command: 'x' }] }, 40001, 'mcp_servers.0.transport'],
  [{ mcp_servers: Array.from({ length: 65 }, (_, at) => own(`s${at}`)) }, 40001, 'mcp_servers'],
  [{ additional_dirs: ['/', 'relative'] }, 40001, 'additional_dirs.1'],
  [{ additional_dirs: Array.from({ length: 65 }, () => '/') }, 40001, 'additional_dirs'],
  [{ additional_dirs: ['/', '/missing/x'] }, 40409, 'path /missing/x does not exist'],
  [{ additional_dirs: ['/etc/passwd'] }, 40409, 'path /etc/passwd is not a directory'],
])('a bad list changes nothing: %#', async (lists, code, place) => {
  const talk = await startTalk(world, { metadata: { cwd: world.project }, additional_dirs: [outside] });
  const before = await world.ok('GET', talk.path);
  const answer = await supply(talk, { title: 'changed', ...lists });
  expect(answer.code).toBe(code);
  expect(answer.details?.[0]?.path ?? answer.msg).toBe(place);
  expect(await world.ok('GET', talk.path)).toEqual(before);
  expect(await callFate(talk, 'Read', { path: join(outside, 'x.txt') })).toContain('from outside');
  const fresh = join(dirname(world.project), `fresh-${code}-${place.length}`);
  await mkdir(fresh, { recursive: true });
  const workspaces = await world.ok('GET', '/workspaces');
  expect((await world.api('POST', '/sessions', { metadata: { cwd: fresh }, ...lists })).code).toBe(code);
  expect(await world.ok('GET', '/workspaces')).toEqual(workspaces);
});

test.skipIf(process.getuid?.() === 0)('a directory that the server may not look at is refused', async () => {
  const talk = await startTalk(world);
  const closed = join(outside, 'closed');
  await mkdir(join(closed, 'inner'), { recursive: true });
  await chmod(closed, 0);
  expect(await supply(talk, { additional_dirs: [join(closed, 'inner')] })).toMatchObject({ code: 40411 });
  await chmod(closed, 0o700);
});
