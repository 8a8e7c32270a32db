/** MCP servers and directories that an editor brings with a session: they have effect in its turns. */
import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { McpServer } from '@agentclientprotocol/sdk';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { choose } from '#support/acp-editor.ts';
import { startAcp, type AcpProcess } from '#support/acp-process.ts';
import { useBuiltServer } from '#support/built-server.ts';
import { until } from '#support/patience.ts';
import { freePort, isOpen } from '#support/ports.ts';

const EVERYTHING = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const base = useBuiltServer(() => {}, { per: 'file' });
let editor: AcpProcess;
let calls = 0;

beforeAll(async () => {
  editor = await startAcp(base.server);
});
afterAll(async () => {
  expect(await editor.close()).toBe(0);
});

const stdio = (name: string, env: { name: string; value: string }[] = []): McpServer => ({
  name,
  command: process.execPath,
  args: [EVERYTHING],
  env,
});

/** Starts the server of the package with a transport over HTTP; returns its port. */
async function startRemote(transport: 'sse' | 'streamableHttp'): Promise<number> {
  const port = await freePort();
  const child = spawn(process.execPath, [EVERYTHING, transport], {
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await until(() => isOpen(port), `${transport} listens`);
  return port;
}

/** Runs one call in a turn of the session, and returns the text that the editor displays for it. */
async function call(sessionId: string, name: string, args: object): Promise<string> {
  editor.permit(choose('allow_once'));
  calls += 1;
  const id = `call_${calls}`;
  base.base.model.enqueue({ calls: [{ name, args, id }] });
  base.base.model.enqueue({ text: 'Done.' });
  expect(await editor.prompt(sessionId, 'Call it')).toBe('end_turn');
  const state = editor.call(id);
  return `${state.status}: ${JSON.stringify(state.content)}`;
}

const toolsSchema = z.object({ tools: z.array(z.object({ function: z.object({ name: z.string() }) })) });
/** Whether the last request to the model offers the tool. */
const offered = (name: string) =>
  toolsSchema.parse(base.base.model.requests.at(-1)?.body).tools.some((tool) => tool.function.name === name);

it('a server that the editor starts is called, with the environment that the editor gives', async () => {
  const cwd = base.base.project;
  const env = [{ name: 'GIVEN_BY_EDITOR', value: 'yes, given' }];
  const { sessionId } = await editor.agent.request('session/new', { cwd, mcpServers: [stdio('mine', env)] });
  expect(await call(sessionId, 'mcp__mine__echo', { message: 'from the editor' })).toMatch(
    /^completed: .*from the editor/,
  );
  expect(await call(sessionId, 'mcp__mine__get-env', {})).toContain('yes, given');
  expect(editor.permissions.some((one) => one.sessionId === sessionId)).toBe(true);

  // Another session has none of it.
  const other = await editor.open(cwd);
  expect(await call(other, 'mcp__mine__echo', { message: 'x' })).toMatch(/^failed/);
  expect(offered('mcp__mine__echo')).toBe(false);
});

it.each([
  ['http', 'streamableHttp', 'mcp'],
  ['sse', 'sse', 'sse'],
] as const)('a server over %s is called', async (type, transport, path) => {
  const port = await startRemote(transport);
  const server: McpServer = { type, name: 'far', url: `http://127.0.0.1:${port}/${path}`, headers: [] };
  const { sessionId } = await editor.agent.request('session/new', { cwd: base.base.project, mcpServers: [server] });
  expect(await call(sessionId, 'mcp__far__echo', { message: 'over the network' })).toMatch(
    /^completed: .*over the network/,
  );
});

it('a loaded and a resumed session has the list of its last request', async () => {
  const cwd = base.base.project;
  const sessionId = await editor.open(cwd);
  await editor.agent.request('session/load', { sessionId, cwd, mcpServers: [stdio('loaded')] });
  expect(await call(sessionId, 'mcp__loaded__echo', { message: 'one' })).toMatch(/^completed: .*one/);
  await editor.agent.request('session/resume', { sessionId, cwd, mcpServers: [stdio('resumed')] });
  expect(await call(sessionId, 'mcp__resumed__echo', { message: 'two' })).toMatch(/^completed: .*two/);
  expect(offered('mcp__resumed__echo')).toBe(true);
  expect(offered('mcp__loaded__echo')).toBe(false);
  await editor.agent.request('session/resume', { sessionId, cwd });
  expect(await call(sessionId, 'mcp__resumed__echo', { message: 'three' })).toMatch(/^failed/);
});

it('a closed session has no servers left', async () => {
  const cwd = base.base.project;
  const { sessionId } = await editor.agent.request('session/new', { cwd, mcpServers: [stdio('closed')] });
  expect(await call(sessionId, 'mcp__closed__echo', { message: 'one' })).toMatch(/^completed/);
  await editor.agent.request('session/close', { sessionId });
  base.base.model.enqueue({ text: 'None.' });
  const asked = base.base.model.requests.length;
  await base.prompt(sessionId, 'Which tools?');
  await base.base.model.waitForRequest(asked + 1);
  expect(offered('mcp__closed__echo')).toBe(false);
});

it('files of an additional directory are read and written as those of the project', async () => {
  const cwd = base.base.project;
  const added = join(base.base.root, 'added');
  await mkdir(added);
  await writeFile(join(added, 'a.txt'), 'a line of the added folder\n');
  const { sessionId } = await editor.agent.request('session/new', {
    cwd,
    mcpServers: [],
    additionalDirectories: [added],
  });
  const asked = () => editor.permissions.filter((one) => one.sessionId === sessionId).length;
  expect(await call(sessionId, 'Read', { path: join(added, 'a.txt') })).toContain('a line of the added folder');
  expect(await call(sessionId, 'Write', { path: join(added, 'b.txt'), content: 'new' })).toMatch(/^completed/);
  expect(await readFile(join(added, 'b.txt'), 'utf8')).toBe('new');
  expect(asked()).toBe(0);

  const { sessions } = await editor.agent.request('session/list', { cwd });
  expect(sessions.find((one) => one.sessionId === sessionId)?.additionalDirectories).toEqual([added]);

  // Without it the same call needs an approval.
  await editor.agent.request('session/resume', { sessionId, cwd });
  expect(await call(sessionId, 'Write', { path: join(added, 'c.txt'), content: 'new' })).toMatch(/^completed/);
  expect(asked()).toBe(1);
});
