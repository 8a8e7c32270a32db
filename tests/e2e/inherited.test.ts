/** Programs that the built server starts inherit no descriptor except the standard ones. */
import { readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { makeBuiltHome, type BuiltHome } from '#support/built-home.ts';
import { spawnServer, type SpawnOptions, type SpawnedServer } from '#support/spawned-server.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';
import { checkedBytes, readersBytes, takeLocks } from '#support/taken-locks.ts';
import { connect, type WsClient } from '#support/ws-client.ts';
import { indexSchema } from '#server/sessions/index/session-header.ts';

let base: BuiltHome;
let server: SpawnedServer;
let events: WsClient;
let session: string;
afterEach(async () => {
  await events.close();
  await server.close();
  await base.remove();
});

/** Starts a server that inherited the file of a wrapper's lock, with a gap before its number, and creates a session. */
async function start(options: SpawnOptions = {}): Promise<void> {
  base = await makeBuiltHome();
  const everything = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
  const one = { command: process.execPath, args: [everything] };
  await writeFile(join(base.home, 'mcp.json'), JSON.stringify({ mcpServers: { one } }));
  const lock = join(base.root, 'lock');
  await writeFile(lock, 'of the wrapper');
  server = await spawnServer({ ...options, home: base.home, prelude: `exec 251<'${lock}' 77>>'${lock}'` });
  const made = await server.api('POST', '/sessions', { metadata: { cwd: base.project } });
  session = z.object({ id: z.string() }).parse(made.data).id;
  events = await connect(server);
  await events.send({ type: 'subscribe', payload: { session_ids: [session], cursors: { [session]: { seq: 0 } } } });
}

/** The report that a program writes atomically to a file; undefined until then. */
const reported = (path: string) => readFile(path, 'utf8').catch(() => undefined);

/** Targets of a process's descriptors; undefined after it has exited. */
async function descriptorsOf(pid: string): Promise<string[] | undefined> {
  const folder = `/proc/${pid}/fd`;
  const names = await readdir(folder).catch(() => undefined);
  return names && Promise.all(names.map((name) => readlink(join(folder, name)).catch(() => '')));
}

/** Runs the calls in one turn; returns their results. */
async function run(...calls: { name: string; args: unknown }[]): Promise<unknown[]> {
  base.model.enqueue({ calls });
  base.model.enqueue({ text: 'Done.' });
  const content = [{ type: 'text', text: 'go' }];
  await server.api('POST', `/sessions/${session}/prompts`, { content, permission_mode: 'yolo' });
  await events.waitFor(({ type }) => type === 'prompt.completed');
  return events.durable(session).flatMap(({ type, payload }) => (type === 'tool.result' ? [payload.output] : []));
}

/** Prints the target of each descriptor of a shell, and writes to its standard ones. */
const LIST = 'for fd in /proc/self/fd/*; do readlink "$fd"; done; echo "to stdout"; echo "to stderr" >&2';

test('commands do not inherit descriptors that the server inherited and keeps open; their standard streams work', async () => {
  await start();
  const [listed, own] = await run(
    { name: 'Bash', args: { command: LIST, description: 'List descriptors' } },
    {
      name: 'Bash',
      args: { command: 'readlink /proc/$PPID/fd/251 /proc/$PPID/fd/77', description: 'Descriptors of the server' },
    },
  );
  expect(listed).toContain('to stdout');
  expect(listed).toContain('to stderr');
  expect(listed).not.toContain('lock');
  // The process that started the server may hold a lock through it.
  expect(own).toContain(`${join(base.root, 'lock')}\n${join(base.root, 'lock')}`);
});

test('MCP server programs use their pipes, and inherit no others', async () => {
  await start();
  const [, echoed, listed] = await run(
    { name: 'Bash', args: { command: 'true', description: 'Nothing' } },
    { name: 'mcp__one__echo', args: { message: 'hi' } },
    {
      name: 'Bash',
      args: {
        command: 'for p in $(pgrep -P $PPID -f server-everything); do ls -l /proc/$p/fd; done',
        description: 'Descriptors of the MCP server',
      },
    },
  );
  expect(echoed).toContain('hi');
  expect(listed).toContain('pipe:');
  expect(listed).not.toContain('lock');
});

test('shells of terminals inherit none, also not of other terminals; a program that cannot be run exits with 1', async () => {
  await start();
  const open = async (shell: string) => {
    const made = await server.api('POST', `/sessions/${session}/terminals`, { shell });
    return z.object({ id: z.string() }).parse(made.data).id;
  };
  const input = (terminal_id: string, data: string) =>
    events.send({ type: 'terminal_input', payload: { session_id: session, terminal_id, data } });
  const listed: string[] = [];
  for (const name of ['first', 'second']) {
    const path = join(base.root, name);
    const id = await open('/bin/sh');
    await input(id, `{ echo $0; ls -l /proc/$$/fd; } > '${path}.new'; mv '${path}.new' '${path}'\n`);
    await expect.poll(() => reported(path)).toBeDefined();
    listed.push((await reported(path)) ?? '');
  }
  for (const text of listed) {
    expect(text).toMatch(/^\/bin\/sh\n/);
    expect(text).toContain('/dev/pts/');
    expect(text).not.toContain('lock');
    expect(text).not.toContain('ptmx');
  }
  const missing = await open('/nonexistent/shell');
  await expect
    .poll(async () => (await server.api('GET', `/sessions/${session}/terminals/${missing}`)).data)
    .toMatchObject({ status: 'exited', exit_code: 1 });
});

test('the browser inherits none', async () => {
  const folder = await temporaryDirectory();
  onTestFinished(() => rm(folder, { recursive: true }));
  const program = join(folder, 'browser.sh');
  const path = `${program}.txt`;
  const list = `{ echo "$1"; ls -l /proc/$$/fd; } > '${path}.new' && mv '${path}.new' '${path}'`;
  await writeFile(program, `#!/bin/sh\n${list}\n`, { mode: 0o755 });
  const env = { BROWSER: program, DISPLAY: '', XDG_CURRENT_DESKTOP: '', DESKTOP_SESSION: '' };
  await start({ browser: true, env });
  await expect.poll(() => reported(path)).toMatch(/^file:/);
  expect(await reported(path)).not.toContain('lock');
});

test('the program that probes file locks inherits none, and handles SIGUSR1 first', async () => {
  await start();
  const { pid } = server.process;
  await takeLocks(checkedBytes(base.home), readersBytes(join(base.home, `cache/index-v${indexSchema.version}.db`)));
  expect(await server.api('GET', '/sessions')).toMatchObject({ code: 50003 });
  const commandOf = async (child: string) => reported(`/proc/${child}/cmdline`).then((line) => line ?? '');
  let probe: { command: string; descriptors: string } | undefined;
  await expect
    .poll(async () => {
      for (const child of (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ').filter(Boolean)) {
        const [command, descriptors] = [await commandOf(child), (await descriptorsOf(child))?.join(' ')];
        if (command.includes('BEGIN IMMEDIATE') && descriptors?.includes('index-v')) probe = { command, descriptors };
      }
      return probe !== undefined;
    })
    .toBe(true);
  expect(probe?.descriptors).not.toContain(join(base.root, 'lock'));
  expect(probe?.command).toMatch(/\0-e\0\s*process\.on\('SIGUSR1'/);
});
