/** SIGUSR1 opens no debugger in the built server (`development.test.ts` covers `nitro dev`). Build first. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { useBuiltServer } from '#support/built-server.ts';
import { until } from '#support/patience.ts';
import { freePort, isOpen } from '#support/ports.ts';
import { BUILT_ENTRY, spawnServer, type SpawnOptions, type SpawnedServer } from '#support/spawned-server.ts';

const bin = (name: string) => resolve(import.meta.dirname, '../../bin', name);
const EARLY_SIGNAL = resolve(import.meta.dirname, '../support/early-debug-signal.cjs');

let port: number;
let servers: SpawnedServer[];
beforeEach(async () => {
  port = await freePort();
  servers = [];
});
afterEach(async () => {
  for (const server of servers) await server.close();
});

/** Starts a server whose debugger, if any, listens on `port`. */
async function start(options: SpawnOptions = {}): Promise<SpawnedServer> {
  const server = await spawnServer({ env: { NODE_OPTIONS: `--inspect-port=127.0.0.1:${port}` }, ...options });
  servers.push(server);
  return server;
}

it.each([
  ['the command', bin('service-code.cjs')],
  ['the built file', BUILT_ENTRY],
])('the signal is logged by %s, opens no port, and requests are answered', async (_name, entry) => {
  const server = await start({ entry });
  server.process.kill('SIGUSR1');
  await until(() => server.output().includes('SIGUSR1 is ignored'), 'a line about the signal');
  expect(await isOpen(port)).toBe(false);
  expect(await server.api('GET', '/meta')).toMatchObject({ code: 0 });
  server.process.kill('SIGUSR1');
  await until(() => server.output().match(/SIGUSR1 is ignored/g)?.length === 2, 'a second line');
  expect(await isOpen(port)).toBe(false);
  const log = await readFile(join(server.home, 'logs', 'service-code.log'), 'utf8');
  expect(log).toContain('SIGUSR1 is ignored');
});

it('the first statement of the command handles the signal', async () => {
  const options = `--inspect-port=127.0.0.1:${port} --require=${EARLY_SIGNAL}`;
  const server = await start({ env: { NODE_OPTIONS: options } });
  expect(await server.api('GET', '/meta')).toMatchObject({ code: 0 });
  expect(await isOpen(port)).toBe(false);
});

it('the built file handles the signal before its imported modules run', async () => {
  const [statements = ''] = (await readFile(BUILT_ENTRY, 'utf8')).split('import{', 1);
  expect(statements).toContain('process.on("SIGUSR1"');
});

it('a Node program without a listener opens its port at the signal', async () => {
  const program = 'console.log("up"); setInterval(() => 0, 1000)';
  const child = spawn(process.execPath, [`--inspect-port=127.0.0.1:${port}`, '-e', program]);
  const exited = once(child, 'exit');
  try {
    await once(child.stdout, 'data');
    child.kill('SIGUSR1');
    await until(() => isOpen(port), 'the debugger');
  } finally {
    child.kill('SIGKILL');
    await exited;
  }
});

it('--inspect opens the debugger, with a warning if other machines reach the server', async () => {
  const debugged = { env: { NODE_OPTIONS: `--inspect=127.0.0.1:${port}` } };
  const own = await start(debugged);
  expect((await fetch(`http://127.0.0.1:${port}/json/list`)).status).toBe(200);
  expect(own.output()).not.toContain('needs no token');
  await own.stop();
  const reached = await start({ ...debugged, args: ['--host', '0.0.0.0'] });
  await until(() => reached.output().includes('needs no token'), 'the warning');
  expect((await fetch(`http://127.0.0.1:${port}/json/list`)).status).toBe(200);
});

it.each(['--inspect-port=9229', ''])('no debugger is mentioned with NODE_OPTIONS=%s', async (options) => {
  const server = await start({ env: { NODE_OPTIONS: options }, args: ['--host', '0.0.0.0'] });
  await until(() => server.output().includes('plain HTTP'), 'the warning of plain HTTP');
  expect(server.output()).not.toContain('needs no token');
});

const built = useBuiltServer();

it('programs started by commands receive the signal as usual', async () => {
  const { model } = built.base;
  const session = await built.newSession();
  const command = `sh -c 'kill -USR1 $$; echo survived'; echo "ended $?"; sh -c 'trap "echo caught" USR1; kill -USR1 $$'`;
  model.enqueue({ calls: [{ name: 'Bash', args: { command, description: 'Signals' } }] });
  model.enqueue({ text: 'Done.' });
  await built.prompt(session, 'Send signals', { permission_mode: 'yolo' });
  const messages = await until(async () => {
    const text = JSON.stringify(await built.ok('GET', `/sessions/${session}/messages?page_size=100`));
    return text.includes('Done.') && text;
  });
  // Whether bash reports the signal between the two lines depends on its timing.
  expect(messages).toContain(String.raw`ended 138\n`);
  expect(messages).toContain(String.raw`\ncaught\n`);
  expect(messages).not.toContain(String.raw`survived\n`);
});
