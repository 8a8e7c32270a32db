/** The built output as a process: start, options, logs, stop. Build first. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { chmod, cp, mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawn as spawnPty } from 'node-pty';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import * as z from 'zod';
import { terminalSchema } from '#schema/rest/terminal.ts';
import { wasReleased } from '#server/journal/lock.ts';
import { processAlive } from '#server/processes/process-alive.ts';
import { launchBrowser } from '#support/browser.ts';
import { eventually } from '#support/patience.ts';
import { rawRequest } from '#support/raw-request.ts';
import { BUILT_ENTRY, spawnServer } from '#support/spawned-server.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';
import type { SpawnOptions, SpawnedServer } from '#support/spawned-server.ts';
import { sessionFolder } from '#support/session-folder.ts';
import { PLAIN_SHELL, viewTerminal } from '#support/terminals.ts';
import { connect } from '#support/ws-client.ts';

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

/** Runs the program until it exits. */
async function run(args: string[], home: string, env: NodeJS.ProcessEnv = {}) {
  const options = { env: { ...process.env, SERVICE_CODE_HOME: home, ...env } };
  const child = spawn(process.execPath, [BUILT_ENTRY, ...args], options);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text: Buffer) => (stdout += text.toString()));
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
  const [code] = await once(child, 'close');
  return { code: Number(code), stdout, stderr };
}

const withId = z.object({ id: z.string(), workspace_id: z.string() });

/** A session of the demo model in an empty folder. */
async function demoSession(server: SpawnedServer) {
  const cwd = await directory();
  const { data } = await server.api('POST', '/sessions', { metadata: { cwd } });
  const { id, workspace_id } = withId.parse(data);
  const events = await connect(server);
  await events.send({ type: 'subscribe', payload: { session_ids: [id], cursors: { [id]: { seq: 0 } } } });
  return {
    id,
    events,
    folder: sessionFolder(server.home, { workspace_id, id }),
    async prompt(text: string, permission_mode: 'manual' | 'yolo' = 'yolo') {
      const body = { content: [{ type: 'text', text }], permission_mode };
      expect(await server.api('POST', `/sessions/${id}/prompts`, body)).toMatchObject({ code: 0 });
    },
  };
}

const logOf = (home: string) => readFile(join(home, 'logs', 'service-code.log'), 'utf8');

const instances = (home: string) => readdir(join(home, 'server', 'instances'));

describe('start', () => {
  it('prints the URL with the token, answers, removes its instance file on exit', async () => {
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

  it.runIf(process.platform === 'linux')('does not open standard input', async () => {
    const args = [BUILT_ENTRY, '--port', '0', '--no-open'];
    const child = spawn(process.execPath, args, { env: { ...process.env, SERVICE_CODE_HOME: await directory() } });
    cleanups.push(async () => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    // Node makes a pipe non-blocking when it opens it.
    const flags = /^flags:\s+(\d+)$/m.exec(await readFile(`/proc/${child.pid}/fdinfo/0`, 'utf8'))?.[1];
    expect(Number.parseInt(flags ?? '', 8) & constants.O_NONBLOCK).toBe(0);
  });

  /** A program that replaces the browser, and the argument that it received. */
  async function browserProgram() {
    const folder = await directory();
    const opened = join(folder, 'opened.txt');
    const program = join(folder, 'browser.sh');
    await writeFile(program, `#!/bin/sh\nprintf %s "$1" > '${opened}.new' && mv '${opened}.new' '${opened}'\n`, {
      mode: 0o755,
    });
    const env = { BROWSER: program, DISPLAY: '', XDG_CURRENT_DESKTOP: '', DESKTOP_SESSION: '' };
    return { env, url: () => readFile(opened, 'utf8').catch(() => '') };
  }

  it('opens the printed URL in a browser by default', async () => {
    const { env, url } = await browserProgram();
    const server = await start({ browser: true, env });
    // Other users see program arguments, so the argument is the path of a file that only its owner can read.
    await expect.poll(url).toMatch(/^file:\/\//);
    expect(await url()).not.toContain(server.token);
    const path = fileURLToPath(await url());
    expect([(await stat(path)).mode & 0o777, (await stat(dirname(path))).mode & 0o777]).toEqual([0o600, 0o700]);

    const browser = await launchBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(await url());
      await page.getByRole('button', { name: 'New session', exact: true }).first().waitFor({ state: 'visible' });
      expect(new URL(page.url()).origin).toBe(server.url);
    } finally {
      await browser.close();
    }
    await server.stop();
    expect(await readdir(dirname(path))).toEqual([]);
  });

  it('opens the URL directly if it contains no token', async () => {
    const { env, url } = await browserProgram();
    const server = await start({ browser: true, env, args: ['--dangerous-bypass-auth'] });
    await expect.poll(url).toBe(`${server.url}/`);
  });

  it('creates a home that only its owner can read, and logs there', async () => {
    const home = join(await directory(), 'new', 'home');
    const server = await start({ home });
    const mode = async (name: string) => ((await stat(join(home, name))).mode & 0o777).toString(8);
    await expect.poll(() => logOf(home).catch(() => '')).toContain('server started');
    expect([
      await mode('.'),
      await mode('server.token'),
      await mode('logs'),
      await mode('logs/service-code.log'),
    ]).toEqual(['700', '600', '700', '600']);
    await server.stop();
    expect(await logOf(home)).toContain('server stopping');
    expect(await logOf(home)).not.toContain(server.token);
  });

  it('continues when the reader of its output exits', async () => {
    const server = await start({ args: ['--log-level', 'info'] });
    server.process.stdout?.destroy();
    server.process.stderr?.destroy();
    for (let n = 0; n < 5; n += 1) expect(await server.api('GET', '/meta')).toMatchObject({ code: 0 });
    expect(await server.stop()).toBe(0);
  });

  it('runs from another directory without the project or its packages', async () => {
    const place = await directory();
    await cp(join(dirname(BUILT_ENTRY), '..'), join(place, 'app'), { recursive: true });
    const entry = join(place, 'app', 'server', 'index.mjs');
    const server = await start({ entry, cwd: place, args: ['--demo'] });
    const page = await server.fetch('/');
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<!doctype html>')]);
    const session = await demoSession(server);
    for (const [prompt, answer] of [
      ['write a.txt: needle', /wrote|written|created/i],
      ['search for needle', /a\.txt/],
      ['run echo $((20 + 22))', /42/],
    ] as const) {
      const from = session.events.frames.length;
      await session.prompt(prompt);
      const done = (frames: typeof session.events.frames) => frames.filter(({ type }) => type === 'prompt.completed');
      await expect.poll(() => done(session.events.frames.slice(from)).length).toBe(1);
      const result = session.events.frames.slice(from).find(({ type }) => type === 'tool.result')?.payload;
      expect([prompt, result?.isError ?? false, result?.output]).toEqual([
        prompt,
        false,
        expect.stringMatching(answer),
      ]);
    }
    // Without the grammar next to the program no command line would match the rule, and each would need approval.
    const rules = { permission: { allow: [{ tool: 'Bash', match: 'echo *' }] } };
    expect(await server.api('POST', '/config', rules)).toMatchObject({ code: 0 });
    await session.prompt('run echo allowed && echo too', 'manual');
    const { payload } = await session.events.waitFor(
      ({ type, payload }) =>
        type === 'event.approval.requested' || (type === 'tool.result' && /allowed/.test(String(payload['output']))),
    );
    expect(payload['output']).toBe('allowed\ntoo\n');
    const { data } = await server.api('GET', '/sessions');
    expect(data).toMatchObject({ items: [{ id: session.id }] });
    const opened = await server.api('POST', `/sessions/${session.id}/terminals`, { shell: PLAIN_SHELL });
    const terminal = viewTerminal(session.events, terminalSchema.parse(opened.data));
    await terminal.send('attach');
    await terminal.send('input', { data: 'ls; echo $((6 * 7)); exit 5\n' });
    expect(await terminal.exit()).toBe(5);
    expect(terminal.text()).toMatch(/a\.txt\s+42/);
  });

  it('stops with its terminals and their processes', async () => {
    const server = await start({ args: ['--demo'] });
    const session = await demoSession(server);
    const opened = await server.api('POST', `/sessions/${session.id}/terminals`, { shell: PLAIN_SHELL });
    const terminal = viewTerminal(session.events, terminalSchema.parse(opened.data));
    await terminal.send('attach');
    await terminal.send('input', { data: `echo shell $$.; sh -c 'echo job $$.; sleep 60'\n` });
    await terminal.until(/job \d+\./);
    const pids = [/shell (\d+)\./, /job (\d+)\./].map((pattern) => Number(pattern.exec(terminal.text())?.[1]));
    expect(pids.every(processAlive)).toBe(true);
    expect(await server.stop()).toBe(0);
    expect(await terminal.exit()).toBeNull();
    // Killed processes stay visible until the system has reaped them.
    await eventually(() => expect(pids.filter(processAlive)).toEqual([]));
  });

  it('starts with a broken configuration, and reports where it is broken', async () => {
    const home = await directory();
    const config = join(home, 'config.toml');
    const broken = '[providers.p]\ntype = "openai"\napi_key = "sk-secret\n';
    await writeFile(config, broken);
    const server = await start({ home });
    await expect.poll(() => server.output()).toContain('not valid TOML at line 3');
    expect(await server.api('GET', '/config')).toMatchObject({ code: 0 });
    expect(await server.api('GET', '/providers')).toMatchObject({ code: 0 });
    expect(await server.api('POST', '/config', { telemetry: false })).toMatchObject({ code: 40001 });
    const provider = { id: 'q', type: 'openai', models: [{ model: 'm', max_context_size: 1000 }] };
    expect(await server.api('POST', '/providers', provider)).toMatchObject({ code: 50003 });
    expect(await readFile(config, 'utf8')).toBe(broken);
    await writeFile(config, 'telemetry = true\n');
    await expect.poll(() => server.api('POST', '/config', { telemetry: false })).toMatchObject({ code: 0 });
    await server.stop();
    expect(await logOf(home)).toContain('not valid TOML at line 3');
    expect((await logOf(home)) + server.output()).not.toContain('sk-secret');
  });

  it('shares a home with another server', async () => {
    const home = await directory();
    const first = await start({ home });
    const port = Number(new URL(first.url).port);
    const second = await start({ home, args: ['--port', String(port)] });
    expect(Number(new URL(second.url).port)).toBeGreaterThan(port);
    expect(await instances(home)).toHaveLength(2);
    const { stdout } = await run(['rotate-token'], home);
    const [token = '', url] = stdout.trim().split('\n');
    expect(url).toBe(`${first.url}/#token=${token}`);
    for (const { url } of [first, second]) {
      const meta = (bearer: string) => fetch(`${url}/api/v1/meta`, { headers: { authorization: `Bearer ${bearer}` } });
      expect([(await meta(token)).status, (await meta(first.token)).status]).toEqual([200, 401]);
    }
    expect(await first.stop()).toBe(0);
    const [left = ''] = await instances(home);
    expect(JSON.parse(await readFile(join(home, 'server', 'instances', left), 'utf8'))).toMatchObject({
      pid: second.process.pid,
    });
    // The next start removes the files of a killed server.
    await second.stop('SIGKILL');
    expect(await instances(home)).toHaveLength(1);
    const third = await start({ home });
    expect(await instances(home)).toHaveLength(1);
    expect(await third.stop()).toBe(0);
  });

  it('uses the next port when one is busy', async () => {
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

  it('reports in one line why it cannot start', async () => {
    const home = await directory();
    await mkdir(join(home, 'server.token'));
    expect(await run(['--port', '0', '--no-open'], home)).toMatchObject({
      code: 1,
      stderr: `service-code: ${join(home, 'server.token')} is not a regular file\n`,
    });
    const other = await directory();
    await mkdir(join(other, 'server'));
    await writeFile(join(other, 'server/instances'), '');
    const refused = await run(['--port', '0', '--no-open'], other);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^service-code: cannot start: (EEXIST|ENOTDIR): [^\n]+\n$/),
    });
  });

  it('refuses a base path of Nitro, also one that only the environment has', async () => {
    const home = await directory();
    for (const name of ['NITRO_APP_BASE_URL', '_APP_BASE_URL']) {
      expect(await run(['--port', '0', '--no-open'], home, { [name]: '/base' })).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/^service-code: [^\n]+\(\/base\): use the option --base-path\.\n$/),
      });
    }
    // The app closed.
    expect(await instances(home)).toEqual([]);
  });

  it('has debug endpoints with their option', async () => {
    const without = await start();
    expect(await without.api('GET', '/debug/channels')).toMatchObject({ status: 404 });
    const server = await start({ args: ['--debug-endpoints'] });
    expect(await server.api('GET', '/debug/channels')).toMatchObject({ code: 0 });
    expect(await server.api('POST', '/debug/workspaces/list')).toMatchObject({ code: 0, data: [] });
  });

  it("starts although another server's file is unreadable", async () => {
    const home = await directory();
    await mkdir(join(home, 'server/instances/other.json'), { recursive: true });
    const server = await start({ home });
    expect(await instances(home)).toHaveLength(2);
    await server.stop();
    expect(await instances(home)).toEqual(['other.json']);
  });

  it('prints help and version', async () => {
    const home = await directory();
    expect(await run(['--version'], home)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
    expect(await run(['--help'], home)).toMatchObject({ code: 0, stdout: expect.stringContaining('--allowed-host') });
  });

  it('binds to all addresses with a bare --host, and accepts every form of --allowed-host', async () => {
    const hosts = ['--allowed-host', 'a.test,b.test', '--allowed-host', '.c.test', '--allowed-host=d.test'];
    const server = await start({ args: [...hosts, '--web-title', 'My title', '--host'] });
    const status = async (host: string) => (await rawRequest(server.url, { path: '/', headers: { host } })).status;
    for (const host of ['a.test', 'b.test:1', 'c.test', 'x.c.test', 'D.test']) expect(await status(host)).toBe(200);
    expect(await status('e.test')).toBe(403);
    const port = new URL(server.url).port;
    expect(server.output()).toContain(`http://localhost:${port}/#token=${server.token}`);
    expect(server.output()).toContain('plain HTTP');
    expect((await server.api('GET', '/meta')).data).toMatchObject({ web_title: 'My title' });
    expect(await server.api('POST', '/shutdown')).toMatchObject({ status: 404, code: 40400 });
    const page = await server.fetch('/');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
  });

  it('mounts the shutdown of an open bind if allowed', async () => {
    const server = await start({ args: ['--host', '0.0.0.0', '--allow-remote-shutdown', '--allow-remote-terminals'] });
    const exited = once(server.process, 'exit');
    expect(await server.api('POST', '/shutdown')).toMatchObject({ code: 0 });
    expect((await exited)[0]).toBe(0);
  });

  it('warns loudly about an open bind without a token', async () => {
    const server = await start({ args: ['--host', '--dangerous-bypass-auth'] });
    expect(server.output()).toMatch(/AUTHENTICATION IS OFF/);
    expect(server.output()).not.toContain('#token=');
  });
});

describe('demo', () => {
  it('runs in a temporary home and project, and receives a Ctrl+C a single time', async () => {
    const place = await directory();
    const { SERVICE_CODE_HOME: _home, ...env } = process.env;
    const program = join(dirname(BUILT_ENTRY), '../../bin/demo.cjs');
    const child = spawn(process.execPath, [program, '--port', '0', '--no-open'], {
      env: { ...env, TMPDIR: place },
      // A separate process group, so that the signal below reaches all of it, as from a terminal.
      detached: true,
    });
    cleanups.push(async () => void child.kill('SIGKILL'));
    let printed = '';
    child.stdout.on('data', (text: Buffer) => (printed += text.toString()));
    const address = () => /(http:\/\/\S+)\/#token=(\S+)/.exec(printed);
    await expect.poll(address).not.toBeNull();
    const [, url = '', token = ''] = address() ?? [];
    const get = async (path: string): Promise<unknown> =>
      (await fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${token}` } })).json();
    await expect.poll(() => get('/workspaces')).toMatchObject({ data: { items: [{ name: 'Demo project' }] } });
    expect(await get('/auth')).toMatchObject({ data: { models_ready: true } });
    // The demo's home is not in the environment of commands.
    const post = async (path: string, body: object): Promise<unknown> => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      return (await fetch(`${url}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).json();
    };
    const made = await post('/sessions', { metadata: { cwd: place } });
    const { id } = z.object({ data: withId }).parse(made).data;
    const text = 'run `echo "home is ${SERVICE_CODE_HOME-unset}"`';
    await post(`/sessions/${id}/prompts`, { content: [{ type: 'text', text }], permission_mode: 'yolo' });
    await expect.poll(async () => JSON.stringify(await get(`/sessions/${id}/messages`))).toContain('home is unset');
    const exited = once(child, 'exit');
    process.kill(-(child.pid ?? 0), 'SIGINT');
    expect(await exited).toEqual([0, null]);
    expect(await readdir(place)).toEqual([]);
  });

  it('answers the next prompt after the server was killed in the middle of an answer', async () => {
    const home = await directory();
    const killed = await start({ home, args: ['--demo'] });
    const { id, events, prompt } = await demoSession(killed);
    await prompt('count to 2000');
    await events.waitFor(({ type }) => type === 'assistant.delta');
    await killed.stop('SIGKILL');
    const server = await start({ home, args: ['--demo'] });
    const body = { content: [{ type: 'text', text: 'Hello' }] };
    expect(await server.api('POST', `/sessions/${id}/prompts`, body)).toMatchObject({ code: 0 });
    const messages = async () => JSON.stringify((await server.api('GET', `/sessions/${id}/messages`)).data);
    await expect.poll(messages).toContain('I am the **demo model**');
    await expect.poll(() => server.api('GET', `/sessions/${id}/status`)).toMatchObject({ data: { busy: false } });
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

  it('closes open WebSockets that used the old token by default', async () => {
    const server = await start();
    const client = await connect(server);
    const { stdout } = await run(['rotate-token', '--keep-connections'], server.home);
    const rotated = { url: server.url, token: stdout.split('\n')[0] ?? '' };
    await expect(connect(rotated, { token: server.token })).rejects.toMatchObject({ status: 401 });
    await (await connect(rotated)).close();
    client.sendRaw(JSON.stringify({ type: 'ping', payload: { nonce: 'still here' } }));
    await client.waitFor(({ type, payload }) => type === 'pong' && payload.nonce === 'still here');
    await run(['rotate-token'], server.home);
    expect(await client.closed).toMatchObject({ code: 4401 });
  });
});

describe('log', () => {
  it('is one JSON object per line, with the code and without the credential', async () => {
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
    expect(performance.now() - began).toBeLessThan(25_000);
    const [code, reason] = await closed;
    expect([code, String(reason)]).toEqual([1001, 'server shutting down']);
  });

  it('happens on the shutdown route, after its answer', async () => {
    const server = await start();
    const exited = once(server.process, 'exit');
    expect(await server.api('POST', '/shutdown')).toMatchObject({ code: 0, data: { ok: true } });
    expect((await exited)[0]).toBe(0);
  });

  it.each([
    ['SIGINT', 'while text streams', 'count to 2000', 'assistant.delta'],
    ['SIGTERM', 'while a command ignores signals', `run trap '' TERM INT; echo up; sleep 60`, 'tool.progress'],
    ['shutdown', 'while an approval waits', 'write a.txt: x', 'event.approval.requested'],
  ] as const)('%s ends a turn cleanly %s', async (how, _when, prompt, running) => {
    const home = await directory();
    const server = await start({ home, args: ['--demo'] });
    const session = await demoSession(server);
    await session.prompt(prompt, how === 'shutdown' ? 'manual' : 'yolo');
    await session.events.waitFor(({ type }) => type === running);
    const exited = once(server.process, 'exit');
    const began = performance.now();
    if (how === 'shutdown') expect(await server.api('POST', '/shutdown')).toMatchObject({ code: 0 });
    else server.process.kill(how);
    expect((await exited)[0]).toBe(0);
    expect(performance.now() - began).toBeLessThan(25_000);

    // Subscribers receive the end before the connection closes.
    expect(await session.events.closed).toEqual({ code: 1001, reason: 'server shutting down' });
    const ended = session.events.frames.find(({ type }) => type === 'turn.ended');
    expect(ended?.payload).toMatchObject({ reason: 'cancelled', interruptReason: 'aborted' });
    const records = (await readFile(join(session.folder, 'journal.ndjson'), 'utf8'))
      .trimEnd()
      .split('\n')
      .slice(1)
      .flatMap((line) => z.object({ r: z.array(z.looseObject({ type: z.string() })) }).parse(JSON.parse(line)).r);
    expect(records.filter(({ type }) => type === 'turn.ended')).toMatchObject([{ reason: 'cancelled' }]);
    expect(records.at(-1)).toMatchObject({ type: 'session.closed', reason: 'exit' });
    expect(await wasReleased(session.folder)).toBe(true);
    expect(await instances(home)).toEqual([]);

    const again = await start({ home, args: ['--demo'] });
    expect((await again.api('GET', `/sessions/${session.id}`)).data).toMatchObject({
      busy: false,
      last_turn_reason: 'cancelled',
    });
  });

  it('exits immediately with 130 at a second signal', async () => {
    const server = await start({ args: ['--demo'] });
    const session = await demoSession(server);
    await session.prompt(`run trap '' TERM INT; echo up; sleep 60`);
    await session.events.waitFor(({ type }) => type === 'tool.progress');
    const exited = once(server.process, 'exit');
    server.process.kill('SIGINT');
    await expect.poll(() => logOf(server.home), { interval: 5 }).toContain('server stopping');
    server.process.kill('SIGINT');
    expect((await exited)[0]).toBe(130);
  });

  it.each(['SIGTERM', 'SIGHUP'] as const)('%s exits cleanly although a command ignores signals', async (signal) => {
    const home = await directory();
    const server = await start({ home, args: ['--demo'] });
    const session = await demoSession(server);
    await session.prompt(`run trap '' TERM HUP INT; echo up; sleep 60`);
    await session.events.waitFor(({ type }) => type === 'tool.progress');
    const { data } = await server.api('GET', `/sessions/${session.id}/tasks`);
    const [task] = z.object({ items: z.array(z.object({ id: z.string() })) }).parse(data).items;
    expect(await server.api('POST', `/sessions/${session.id}/tasks/${task?.id}:detach`)).toMatchObject({ code: 0 });
    await session.events.waitFor(({ type }) => type === 'turn.ended');
    const exited = once(server.process, 'exit');
    server.process.kill(signal);
    await expect.poll(() => logOf(server.home), { interval: 5 }).toContain('server stopping');
    // A closed terminal may send SIGHUP several times; only repeated other signals force the exit.
    if (signal === 'SIGHUP') server.process.kill(signal);
    expect(await exited).toEqual([0, null]);
    expect(await session.events.closed).toEqual({ code: 1001, reason: 'server shutting down' });
    expect(await readFile(join(session.folder, 'journal.ndjson'), 'utf8')).toContain('"session.closed"');
    expect(await wasReleased(session.folder)).toBe(true);
    expect(await instances(home)).toEqual([]);
  });

  it('exits with its terminal, and kills the commands of its agents', async () => {
    const home = await directory();
    const cwd = await directory();
    const pty = spawnPty(process.execPath, [BUILT_ENTRY, '--port', '0', '--no-open', '--demo'], {
      cwd,
      env: { ...process.env, SERVICE_CODE_HOME: home },
    });
    let output = '';
    pty.onData((text) => (output += text));
    await eventually(() => expect(output).toMatch(/http:\S+#token=[\w-]+/));
    const [, url = '', token = ''] = /(http:\/\/127[^/\s]+)\/#token=([\w-]+)/.exec(output) ?? [];
    const api = async (path: string, body: object) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const response = await fetch(`${url}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      return z.looseObject({ code: z.literal(0), data: z.unknown() }).parse(await response.json()).data;
    };
    const { id } = withId.parse(await api('/sessions', { metadata: { cwd } }));
    const content = [{ type: 'text', text: 'run echo $$ > pid; exec sleep 60' }];
    await api(`/sessions/${id}/prompts`, { content, permission_mode: 'yolo' });
    const pid = async () => Number(await readFile(join(cwd, 'pid'), 'utf8').catch(() => ''));
    await expect.poll(pid).toBeGreaterThan(0);
    const command = await pid();
    const exited = new Promise((resolve) => pty.onExit(resolve));
    // SIGHUP, which the system sends when a terminal is closed.
    pty.kill();
    await exited;
    expect(await instances(home)).toEqual([]);
    await eventually(() => expect(processAlive(command)).toBe(false));
  });
});
