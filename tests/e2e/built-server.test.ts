/** The built output as a process: start, options, logs, stop (core.md §4.4, §4.5). Build first. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { BUILT_ENTRY, spawnServer, temporaryDirectory } from '../support/server.ts';
import type { SpawnOptions, SpawnedServer } from '../support/server.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});
async function start(options?: SpawnOptions): Promise<SpawnedServer> {
  const server = await spawnServer(options);
  cleanups.push(server.close);
  return server;
}
async function directory(): Promise<string> {
  const path = await temporaryDirectory();
  cleanups.push(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** Runs the program to its end. */
async function run(args: string[], home: string) {
  const child = spawn(process.execPath, [BUILT_ENTRY, ...args], { env: { ...process.env, SERVICE_CODE_HOME: home } });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text: Buffer) => (stdout += text.toString()));
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
  const [code] = await once(child, 'close');
  return { code: Number(code), stdout, stderr };
}

const instances = (home: string) => readdir(join(home, 'server', 'instances'));

describe('start', () => {
  it('prints the URL with the token, answers, removes its instance file at the end', async () => {
    const home = await directory();
    const server = await start({ home });
    expect(server.output()).toContain(`${server.url}/#token=${server.token}`);
    expect(await server.api('GET', '/meta')).toMatchObject({ code: 0 });
    const [file = ''] = await instances(home);
    const entry: unknown = JSON.parse(await readFile(join(home, 'server', 'instances', file), 'utf8'));
    expect(entry).toMatchObject({ port: Number(new URL(server.url).port), pid: server.process.pid });
    expect(await server.stop()).toBe(0);
    expect(await instances(home)).toEqual([]);
    expect(await readFile(join(home, 'server.token'), 'utf8')).toBe(server.token);
  });

  it('takes the next port when one is busy', async () => {
    const busy = createServer();
    busy.listen(0, '127.0.0.1');
    await once(busy, 'listening');
    cleanups.push(async () => busy.close());
    const address = busy.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const server = await start({ args: ['--port', String(port)] });
    expect(Number(new URL(server.url).port)).toBeGreaterThan(port);
    expect(server.output()).toContain(`Port ${port} is in use, trying ${port + 1}.`);
  });

  it('refuses bad options and a token that others can read, without an instance file', async () => {
    const home = await directory();
    expect(await run(['--port', '70000'], home)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('invalid port'),
    });
    expect(await run(['--log-level', 'loud'], home)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('log level'),
    });
    await writeFile(join(home, 'server.token'), 'x');
    await chmod(join(home, 'server.token'), 0o644);
    const refused = await run(['--port', '0', '--no-open'], home);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('mode 0644, expected 0600') });
    await expect(instances(home)).rejects.toThrow('ENOENT');
  });

  it('prints help and version', async () => {
    const home = await directory();
    expect(await run(['--version'], home)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
    expect(await run(['--help'], home)).toMatchObject({ code: 0, stdout: expect.stringContaining('--allowed-host') });
  });

  it('warns loudly about an open bind without a token', async () => {
    const server = await start({ args: ['--host', '--dangerous-bypass-auth'] });
    expect(server.output()).toMatch(/AUTHENTICATION IS OFF/);
    expect(server.output()).not.toContain('#token=');
  });
});

describe('rotate-token', () => {
  it('prints the new token and the URL of the running server, which adopts it', async () => {
    const home = await directory();
    const server = await start({ home });
    const { code, stdout } = await run(['rotate-token'], home);
    const [token = '', url] = stdout.trim().split('\n');
    expect([code, url]).toEqual([0, `${server.url}/#token=${token}`]);
    const status = async (bearer: string) =>
      (await server.fetch('/api/v1/meta', { headers: { authorization: `Bearer ${bearer}` } })).status;
    expect([await status(token), await status(server.token)]).toEqual([200, 401]);
  });
});

describe('log', () => {
  it('is one JSON object a line, with the code and without the credential', async () => {
    const server = await start({ args: ['--log-level', 'info'] });
    await server.api('GET', '/nope?x=1');
    await expect.poll(() => server.output()).toContain('request completed');
    const lines = server
      .output()
      .trim()
      .split('\n')
      .map((line): Record<string, unknown> => JSON.parse(line));
    const access = lines.find(({ msg }) => msg === 'request completed');
    expect(access).toMatchObject({
      level: 30,
      name: 'service-code',
      code: 40400,
      reqId: expect.stringMatching(/^\w{26}$/),
      req: { method: 'GET', url: '/api/v1/nope?x=1', host: new URL(server.url).host, remoteAddress: '127.0.0.1' },
    });
    expect(JSON.stringify(access)).not.toContain(server.token);
    expect(lines[0]).toMatchObject({ msg: `Service server: ${server.url}/#token=${server.token}` });
  });
});

describe('stop', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('%s closes sockets with 1001 and exits 0', async (signal) => {
    const server = await start();
    const socket = new WebSocket(`${server.url}/api/v1/ws`, [`service-code.bearer.${server.token}`]);
    await once(socket, 'open');
    const closed = once(socket, 'close');
    const began = performance.now();
    expect(await server.stop(signal)).toBe(0);
    expect(performance.now() - began).toBeLessThan(5000);
    const [code, reason] = await closed;
    expect([code, String(reason)]).toEqual([1001, 'server shutting down']);
  });

  it('follows the shutdown route, after its answer', async () => {
    const server = await start();
    const exited = once(server.process, 'exit');
    expect(await server.api('POST', '/shutdown')).toMatchObject({ code: 0, data: { ok: true } });
    expect((await exited)[0]).toBe(0);
  });
});
