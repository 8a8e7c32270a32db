/** Tools of MCP servers in turns: offered, approved, called, restarted, refused. */
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { hasNoted, hostile, mcpTalks, noted, type McpTalks, serverStatuses } from '#support/mcp-talk.ts';
import { signIn, startOAuthMcpServer } from '#support/oauth-mcp-server.ts';
import { sessionFolder } from '#support/session-folder.ts';
import { call, callThenText, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
let mcp: McpTalks;
beforeAll(async () => {
  world = await startWorld({
    config: {
      permission: { rules: [{ decision: 'allow', pattern: 'mcp__free__*' }] },
      mcp: { startup_timeout_ms: 15_000 },
    },
    env: () => ({ ...process.env, GIVEN: 'given', TOKEN_OF_MINE: 'SECRETBEARER2' }),
  });
  mcp = mcpTalks(world);
});
afterEach(() => mcp.endAll());
afterAll(() => world.close());

const echo = (text: string) => callThenText('mcp__free__echo', { text });
const outcome = async (talk: Talk, text: string) => (await talk.turn('go', echo(text))).results[0];

/** The tools of `hostile('many')`, under the names that models receive. */
const many = ['echo', ...Array.from({ length: 15 }, (_, n) => `tool_${n}`)].map((name) => `mcp__free__${name}`);

test('a tool runs in the first turn; clients receive the status, and journal lines omit the tool list', async () => {
  await mcp.configure({ free: hostile('many') });
  const talk = await mcp.talk();
  const { results } = await talk.turn('go', echo('hi'));
  expect(results).toEqual([expect.objectContaining({ output: 'echo: hi', isError: false })]);
  expect(serverStatuses(talk, 'free')).toEqual(['pending', 'connected']);
  expect(talk.all('mcp.server.status').at(-1)?.payload.server).toEqual({
    name: 'free',
    transport: 'stdio',
    status: 'connected',
    toolCount: many.length,
  });
  expect(talk.all('tool.list.updated')).toMatchObject([{ payload: { reason: 'mcp.connected', serverName: 'free' } }]);
  expect(talk.all('tool.call.started')[0]?.payload).not.toHaveProperty('description');
  const sent = world.model.requests.at(-1)?.body.tools as { function: { name: string } }[];
  const sentNames = sent.map(({ function: { name } }) => name).filter((name) => name.startsWith('mcp__free__'));
  expect(sentNames.toSorted()).toEqual(many.toSorted());
  expect((await mcp.toolNames(talk)).toSorted()).toEqual(many.toSorted());

  const folder = sessionFolder(world.server.home, talk.session);
  const journal = (await readdir(folder)).find((name) => name.endsWith('.ndjson') || name.endsWith('.jsonl'));
  const lines = (await readFile(join(folder, String(journal)), 'utf8')).split('\n');
  const discoveries = lines.filter((line) => line.includes('"mcp.tools"'));
  expect(discoveries).toHaveLength(1);
  expect(discoveries[0]).toContain('"serverName":"free"');
  expect(discoveries[0]).toContain('$blob');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(20_000);

  await talk.turn('again', echo('again'));
  const after = (await readFile(join(folder, String(journal)), 'utf8')).split('\n');
  expect(after.filter((line) => line.includes('"mcp.tools"'))).toHaveLength(1);
});

test('an error of a server is one line in events and the journal, without the credentials that it echoes', async () => {
  const hostileHost = createServer((request, response) => {
    const echoed = `token=${request.headers.authorization} key=${String(request.headers['x-key'])}`;
    response.writeHead(500, { 'content-type': 'text/html' }).end(`<html>\n${echoed}\n${'<p>x</p>\n'.repeat(30_000)}`);
  }).listen(0, '127.0.0.1');
  await once(hostileHost, 'listening');
  onTestFinished(() => void hostileHost.close());
  const { port } = z.object({ port: z.number() }).parse(hostileHost.address());
  const url = `http://127.0.0.1:${port}/mcp`;
  const headers = { 'x-key': 'KEY-OF-MINE' };
  await mcp.configure({ loud: { transport: 'http', url, bearerTokenEnvVar: 'TOKEN_OF_MINE', headers } });
  const talk = await mcp.talk();
  await talk.turn('go', [{ text: 'Done.' }]);
  expect(serverStatuses(talk, 'loud')).toEqual(['pending', 'failed']);
  const { server } = z
    .object({ server: z.looseObject({ error: z.string() }) })
    .parse(talk.all('mcp.server.status').at(-1)?.payload);
  expect(server.error).toContain('token=… key=…');
  expect(server.error).not.toMatch(/[\r\n]/);
  expect(server.error.length).toBeLessThanOrEqual(300);

  const folder = sessionFolder(world.server.home, talk.session);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), 'utf8')));
  const all = texts.join('\n');
  expect(all).toContain(server.error.slice(0, 40).replaceAll('"', String.raw`\"`));
  expect(all).not.toMatch(/SECRETBEARER2|KEY-OF-MINE/);
  for (const line of all.split('\n')) expect(line.split('<p>x</p>').length).toBeLessThanOrEqual(60);
  expect(JSON.stringify(talk.all('mcp.server.status'))).not.toMatch(/SECRETBEARER2|KEY-OF-MINE/);
});

test('a call needs an approval that names the tool, unless a rule matches its name', async () => {
  await mcp.configure({ other: hostile(), free: hostile() });
  const talk = await mcp.talk();
  await talk.prompt('go', [
    { calls: [call('mcp__free__echo', { text: 'a' }), call('mcp__other__echo', { text: 'b' })] },
    { text: 'Done.' },
  ]);
  const approval = await talk.approval();
  expect(approval).toMatchObject({
    tool_name: 'mcp__other__echo',
    action: 'Approve mcp__other__echo',
    tool_input_display: { kind: 'generic', summary: 'Approve mcp__other__echo', detail: { text: 'b' } },
  });
  await talk.answer(approval.approval_id, { decision: 'approved', scope: 'session' });
  await talk.nth('turn.ended', 1);
  const { results } = await talk.turn('more', callThenText('mcp__other__echo', { text: 'c' }));
  expect(results[0]).toMatchObject({ output: 'echo: c' });
  expect(talk.all('event.approval.requested')).toHaveLength(1);
});

test('invalid arguments are reported to the model and not sent to the server', async () => {
  const file = mcp.notes();
  await mcp.configure({ free: hostile('', file) });
  const talk = await mcp.talk();
  const { results } = await talk.turn('go', callThenText('mcp__free__echo', { text: 7 }));
  expect(results[0]).toMatchObject({ output: 'Invalid arguments: text: must be string', isError: true });
  expect(await noted(file)).not.toContain('call echo');
});

test('the answer of the server reaches the model: errors, refusals, long texts', async () => {
  await mcp.configure({ free: { ...hostile(), env: { KEY: '${GIVEN}' } } });
  const talk = await mcp.talk();
  expect(await outcome(talk, 'error')).toMatchObject({ output: 'it failed', isError: true });
  expect((await outcome(talk, 'refused'))?.output).toContain('not today');
  expect(await outcome(talk, 'malformed')).toMatchObject({ isError: true });
  expect((await outcome(talk, 'huge'))?.output).toContain('output_size_chars: 100');
  expect((await outcome(talk, 'env'))?.output).toContain('"KEY":"given"');
});

test('progress is published at most ten times a second', async () => {
  await mcp.configure({ free: hostile() });
  const talk = await mcp.talk();
  await talk.turn('go', echo('progress'));
  const updates = talk.events.frames.flatMap(({ type, payload }) => (type === 'tool.progress' ? [payload.update] : []));
  expect(updates[0]).toEqual({ kind: 'progress', percent: 1, text: 'step 1' });
  // Of a hundred simultaneous updates.
  expect(updates.length).toBeLessThan(30);
});

test('an aborted turn cancels the call on the server', async () => {
  const file = mcp.notes();
  await mcp.configure({ free: hostile('', file) });
  const talk = await mcp.talk();
  const { prompt_id } = await talk.prompt('go', [{ calls: [call('mcp__free__echo', { text: 'hang' })] }]);
  await talk.nth('tool.call.started', 1);
  await hasNoted(file, 'call echo hang');
  await world.ok('POST', `${talk.path}/prompts/${prompt_id}:abort`);
  await talk.settled(prompt_id);
  await hasNoted(file, 'notifications/cancelled');
});

test('a server that exits during a call is restarted for it; if it exits again, only the call fails', async () => {
  const file = mcp.notes();
  await mcp.configure({ free: hostile('', file) });
  const talk = await mcp.talk();
  expect(await outcome(talk, 'exit-once')).toMatchObject({ output: 'echo: exit-once', isError: false });
  expect(serverStatuses(talk, 'free')).toEqual(['pending', 'connected', 'failed', 'pending', 'connected']);
  const died = await outcome(talk, 'exit');
  expect(died).toMatchObject({ isError: true });
  expect((await noted(file)).split('\n').filter((line) => line === 'call echo exit')).toHaveLength(2);
  // Its tools stay listed, and the next call starts it.
  expect(await mcp.toolNames(talk)).toEqual(['mcp__free__echo']);
  const row = await mcp.status('free', 'error');
  expect(row).toMatchObject({ tool_count: 0, last_error: expect.stringContaining('exited with code 5') });
  expect(await outcome(talk, 'hi')).toMatchObject({ output: 'echo: hi', isError: false });
});

test('a failed restart is reported; a call that timed out is not repeated', async () => {
  const file = mcp.notes();
  await mcp.configure({ free: { ...hostile('', file), toolTimeoutMs: 500 } });
  const talk = await mcp.talk();
  expect((await outcome(talk, 'hang'))?.output).toContain('did not answer within 500 ms; the call was given up');
  expect((await noted(file)).split('\n').filter((line) => line === 'call echo hang')).toHaveLength(1);
  await mcp.configure({ free: hostile('crash') });
  expect((await outcome(talk, 'hi'))?.output).toMatch(/^mcp\.startup_failed: .*exited with code 3[^]*last words/);
});

test('a bad schema, a used name or a filter affects only its tool', async () => {
  await mcp.configure({
    free: hostile('bad-schemas,collision'),
    'fr ee': hostile('', mcp.notes()),
    fr_ee: hostile(),
    few: { ...hostile('many'), enabledTools: ['echo', 'tool_1', 'tool_2'], disabledTools: ['tool_2'] },
  });
  const talk = await mcp.talk();
  expect(await outcome(talk, 'hi')).toMatchObject({ output: 'echo: hi' });
  const names = await mcp.toolNames(talk);
  expect(names.filter((name) => name.startsWith('mcp__free__')).toSorted()).toEqual([
    'mcp__free__a_b',
    'mcp__free__echo',
    'mcp__free__regular',
  ]);
  expect(names.filter((name) => name.startsWith('mcp__few__'))).toEqual(['mcp__few__echo', 'mcp__few__tool_1']);
  expect(names.filter((name) => name === 'mcp__fr_ee__echo')).toHaveLength(1);
  const errors = talk.all('error').map(({ payload }) => [payload.code, payload.details]);
  expect(errors).toContainEqual(['mcp.tool_name_collision', { serverName: 'free', collisions: ['mcp__free__a_b'] }]);
  expect(errors).toContainEqual([
    'mcp.tool_name_collision',
    { serverName: expect.stringMatching(/^fr[ _]ee$/), collisions: ['mcp__fr_ee__echo'] },
  ]);
  for (const tool of ['no-object', 'no-schema', 'lie', 'remote', 'huge']) {
    expect(errors).toContainEqual(['mcp.tool_schema_invalid', { serverName: 'free', tool }]);
  }
  expect((await mcp.servers()).map(({ name, status }) => `${name} ${status}`)).toEqual([
    'free connected',
    'fr ee connected',
    'fr_ee connected',
    'few connected',
  ]);
});

test('a server that never answers delays only the first step, by its time-out', async () => {
  await mcp.configure({
    free: hostile(),
    silent: { ...hostile('silent'), startupTimeoutMs: 1500 },
    unset: { ...hostile(), env: { A: '${NOT_SET_ANYWHERE}' } },
  });
  const talk = await mcp.talk();
  const started = performance.now();
  expect(await outcome(talk, 'hi')).toMatchObject({ output: 'echo: hi' });
  expect(performance.now() - started).toBeGreaterThan(1400);
  expect(serverStatuses(talk, 'silent')).toEqual(['pending', 'failed']);
  const rows = new Map((await mcp.servers()).map((row) => [row.name, row]));
  expect(rows.get('silent')).toMatchObject({ status: 'error', last_error: 'the server did not answer within 1500 ms' });
  expect(rows.get('unset')).toMatchObject({
    status: 'error',
    last_error: 'environment variable NOT_SET_ANYWHERE is not set',
  });
  expect(await outcome(talk, 'more')).toMatchObject({ output: 'echo: more' });
  expect(serverStatuses(talk, 'silent')).toEqual(['pending', 'failed']);
});

test('a call without a required scope leads to a sign-in that requests it', async () => {
  const guarded = await startOAuthMcpServer();
  await mcp.configure({ free: { url: guarded.url } });
  const begin = async () => {
    const { data } = await world.server.api('POST', '/api/v2/mcp/auth:begin', { source: 'global', name: 'free' });
    return z.object({ flowId: z.string(), authorizationUrl: z.url() }).parse(data);
  };
  const { flowId, authorizationUrl } = await begin();
  await signIn(authorizationUrl);
  await world.server.api('POST', '/api/v2/mcp/auth:complete', { flowId });
  const talk = await mcp.talk();
  const look = async () => (await talk.turn('go', callThenText('mcp__free__look', {}))).results[0];
  expect(await look()).toMatchObject({ output: 'answered tools/call', isError: false });

  guarded.behaviour.neededScope = 'write';
  expect(await look()).toMatchObject({ isError: true });
  await expect.poll(() => serverStatuses(talk, 'free').at(-1)).toBe('needs-auth');
  expect(await mcp.toolNames(talk)).toEqual(['mcp__free__authenticate']);
  const again = await begin();
  expect(new URL(again.authorizationUrl).searchParams.get('scope')?.split(' ')).toContain('write');
});
