/** MCP servers and directories that a client brings with a session. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { callFate } from '#support/call-fate.ts';
import { hostile, mcpTalks, serverStatuses, type McpTalks } from '#support/mcp-talk.ts';
import { callThenText, startTalk, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
let mcp: McpTalks;
let outside: string;
beforeAll(async () => {
  const rules = [{ decision: 'allow', pattern: 'mcp__*' }];
  world = await startWorld({ config: { permission: { rules } } });
  mcp = mcpTalks(world);
  outside = join(dirname(world.project), 'outside');
  await mkdir(outside);
  await writeFile(join(outside, 'x.txt'), 'from outside');
});
afterEach(() => mcp.endAll());
afterAll(() => world.close());

/** A server as a client sends it. */
const sent = (name: string, modes = '', more: object = {}) => ({
  name,
  transport: 'stdio',
  runtime_id: 'local',
  ...hostile(modes),
  ...more,
});
const profile = (talk: Talk, body: object) => world.api('POST', `${talk.path}/profile`, body);
const echo = (server: string) => callThenText(`mcp__${server}__echo`, { text: 'hi' });
const result = async (talk: Talk, scripts: ReturnType<typeof echo>) => (await talk.turn('go', scripts)).results[0];
const names = async (talk: Talk) => (await mcp.toolNames(talk)).map((name) => name.split('__')[1]);

test('servers connect with the next turn, are replaced and emptied', async () => {
  const talk = await mcp.talk();
  expect(await profile(talk, { mcp_servers: [sent('one')] })).toMatchObject({ code: 0 });
  expect(await result(talk, echo('one'))).toMatchObject({ output: 'echo: hi', isError: false });
  expect(serverStatuses(talk, 'one')).toEqual(['pending', 'connected']);
  expect((await mcp.servers()).map(({ name }) => name)).toEqual(['one']);

  await profile(talk, { mcp_servers: [sent('two')] });
  // The session is idle: the absent one is closed, and the new one joins at the next turn.
  await expect.poll(() => serverStatuses(talk, 'one').at(-1)).toBe('removed');
  expect(await names(talk)).toEqual([]);
  expect(await result(talk, echo('two'))).toMatchObject({ output: 'echo: hi' });
  expect(new Set(await names(talk))).toEqual(new Set(['two']));

  await profile(talk, { title: 'Unchanged' });
  expect(await result(talk, echo('two'))).toMatchObject({ output: 'echo: hi' });
  await profile(talk, { mcp_servers: [] });
  await expect.poll(() => serverStatuses(talk, 'two').at(-1)).toBe('removed');
  expect(await result(talk, echo('two'))).toMatchObject({ isError: true });
  expect(await names(talk)).toEqual([]);
  expect(await mcp.servers()).toEqual([]);
});

test('a server shadows the configured one of its name in this session alone', async () => {
  await mcp.configure({ shared: hostile('many') });
  const talk = await mcp.talk();
  const other = await mcp.talk(talk);
  await profile(talk, { mcp_servers: [sent('shared')] });
  expect(await result(talk, echo('shared'))).toMatchObject({ output: 'echo: hi' });
  await other.turn('go', echo('shared'));
  expect((await mcp.toolNames(talk)).length).toBe(1);
  expect((await mcp.toolNames(other)).length).toBeGreaterThan(1);
  await profile(talk, { mcp_servers: [] });
  await talk.turn('again', [{ text: 'Yes.' }]);
  expect((await mcp.toolNames(talk)).length).toBeGreaterThan(1);
  await mcp.configure({});
});

test('an entry is used as written, and a program needs a runtime', async () => {
  const talk = await mcp.talk();
  const { runtime_id: _runtime, ...nowhere } = sent('nowhere');
  const literal = sent('literal', '', { args: ['${NOT_SET}'] });
  const secret = sent('secret', '', { command: '/nowhere/secret-program' });
  await profile(talk, { mcp_servers: [nowhere, literal, secret] });
  await talk.turn('go', [{ text: 'Yes.' }]);
  const shown = new Map((await mcp.servers()).map((server) => [server.name, server]));
  expect(shown.get('nowhere')?.last_error).toContain('runtime_id');
  // Node is started, and finds no script of that name.
  expect(shown.get('literal')?.last_error).toContain('exited with code 1');
  // Errors are recorded, and the entry is not.
  expect(shown.get('secret')?.last_error).toBeTruthy();
  expect(shown.get('secret')?.last_error).not.toContain('secret-program');
});

test('directories extend the workspace of this session, until they are emptied', async () => {
  const read = { path: join(outside, 'x.txt') };
  const talk = await startTalk(world, { metadata: { cwd: world.project }, additional_dirs: [outside] });
  const other = await startTalk(world);
  expect(await callFate(talk, 'Read', read)).toContain('from outside');
  expect(await callFate(other, 'Read', read)).toBe('asked');
  expect(await profile(talk, { additional_dirs: [] })).toMatchObject({ code: 0 });
  expect(await callFate(talk, 'Read', read)).toBe('asked');
});

test('both are lost when the session is unloaded, and are in no byte of the home', async () => {
  const secrets = { env: { KEY: 'SECRET-MARKED' } };
  const marked = join(dirname(world.project), 'MARKED');
  await mkdir(marked);
  const talk = await startTalk(world, {
    metadata: { cwd: world.project },
    mcp_servers: [sent('kept', '', secrets)],
    additional_dirs: [marked],
  });
  expect(await result(talk, echo('kept'))).toMatchObject({ output: 'echo: hi' });
  const files = await readdir(world.server.home, { recursive: true, withFileTypes: true });
  for (const file of files.filter((entry) => entry.isFile())) {
    // A temporary file is renamed meanwhile.
    const text = await readFile(join(file.parentPath, file.name), 'latin1').catch(() => '');
    expect(text).not.toContain('MARKED');
  }
  expect(JSON.stringify(talk.events.frames)).not.toContain('MARKED');
  await world.ok('POST', `${talk.path}:archive`);
  await world.ok('POST', `${talk.path}:restore`);
  await talk.turn('again', [{ text: 'Yes.' }]);
  expect(await names(talk)).toEqual([]);
});

test('bad entries change nothing', async () => {
  const talk = await mcp.talk();
  await profile(talk, { mcp_servers: [sent('kept')] });
  const missing = join(outside, 'missing');
  const lists: [object, object][] = [
    [{ mcp_servers: [sent('a'), sent('a')] }, { code: 40001, details: [{ path: 'mcp_servers.1.name' }] }],
    [{ mcp_servers: [{ name: 'a', command: 'x' }] }, { code: 40001 }],
    [{ mcp_servers: Array.from({ length: 65 }, (_, n) => sent(`s${n}`)) }, { code: 40001 }],
    [{ additional_dirs: [outside, 'relative'] }, { code: 40001, details: [{ path: 'additional_dirs.1' }] }],
    [{ additional_dirs: [missing] }, { code: 40409 }],
    [{ additional_dirs: [join(outside, 'x.txt')] }, { code: 40409 }],
  ];
  for (const [body, refused] of lists) {
    const all = { title: 'Changed', mcp_servers: [sent('lost')], ...body };
    expect(await profile(talk, all)).toMatchObject(refused);
    expect(await world.api('POST', '/sessions', { metadata: { cwd: world.project }, ...body })).toMatchObject(refused);
  }
  expect(await world.ok('GET', talk.path)).not.toMatchObject({ title: 'Changed' });
  expect(await result(talk, echo('kept'))).toMatchObject({ output: 'echo: hi' });
});
