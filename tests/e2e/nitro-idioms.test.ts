/** Files as Nitro's documentation shows them work in the built server and in `nitro dev`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import * as z from 'zod';
import { addNitroIdioms } from '#support/nitro-idioms.ts';
import { requestWithoutBody } from '#support/open-requests.ts';
import { eventually, until } from '#support/patience.ts';
import { BUILD_PATIENCE_MS, copyProject, type DevelopmentServer, type ProjectCopy } from '#support/project-copy.ts';
import { rawUpgrade } from '#support/raw-request.ts';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';

let project: ProjectCopy;
let upstream: Server;
let asked: IncomingHttpHeaders[] = [];

beforeAll(async () => {
  upstream = createServer(({ headers }, response) => {
    asked.push(headers);
    response.end('from elsewhere');
  });
  await once(upstream.listen(0, '127.0.0.1'), 'listening');
  const { port } = z.object({ port: z.number() }).parse(upstream.address());
  project = await copyProject();
  await addNitroIdioms(project, `http://127.0.0.1:${port}`);
});
afterAll(async () => {
  upstream.close();
  await project.remove();
});

interface Target {
  url: string;
  token: string;
}

const status = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);

/** Checks every idiom; holds for both servers. */
async function expectIdioms({ url, token }: Target, isDevelopment: boolean): Promise<void> {
  const authorization = `Bearer ${token}`;
  const send = (path: string, init: RequestInit = {}) =>
    fetch(url + path, { redirect: 'manual', ...init, headers: { authorization, ...init.headers } });
  const text = async (path: string, init?: RequestInit) => (await send(path, init)).text();
  const json = async (path: string): Promise<unknown> => (await send(path)).json();
  const count = async () => Number((await send('/hello')).headers.get('x-count'));

  // Plain files, of every kind of name.
  for (const [path, answer] of [
    ['/hello', 'hi'],
    ['/hello/', 'hi'],
    ['/%68ello', 'hi'],
    ['/grouped', 'grouped'],
    ['/configured', 'configured'],
    ['/api/short', 'short'],
    ['/all/x/y', 'x/y'],
    [isDevelopment ? '/developed' : '/built', isDevelopment ? 'developed' : 'built'],
  ]) {
    expect([path, await text(path ?? '')]).toEqual([path, answer]);
  }
  expect(await text('/preflight', { method: 'OPTIONS' })).toBe('options');
  expect((await send('/grouped', { method: 'HEAD' })).status).toBe(405);
  expect((await send(isDevelopment ? '/built' : '/developed')).status).toBe(404);
  expect(await json('/api/v1/plain')).toEqual({ id: expect.stringMatching(/./) });
  const body = { method: 'POST', body: '{"a":1}', headers: { 'content-type': 'application/json' } };
  expect(JSON.parse(await text('/body', body))).toEqual({ a: 1 });

  // Errors.
  const teapot = await send('/errors/teapot');
  const shown = { error: true, url: `${url}/errors/teapot`, statusCode: 418, statusMessage: 'Server Error' };
  expect([teapot.status, await teapot.json()]).toEqual([418, { ...shown, message: 'short and stout' }]);
  const broken = await send('/errors/broken', { headers: { accept: 'text/html' } });
  expect(broken.status).toBe(500);
  expect(await broken.json()).toEqual({
    ...shown,
    url: `${url}/errors/broken`,
    statusCode: 500,
    message: 'Server Error',
  });
  expect(await json('/errors/refused')).toMatchObject({ code: 40401, msg: 'no such session' });

  // Endpoints after middleware and rules, and by calls within the process.
  const meta = await send('/api/v1/meta', { headers: { origin: url } });
  expect(await meta.json()).toMatchObject({ code: 0 });
  expect([meta.headers.get('x-rule'), meta.headers.get('access-control-allow-origin')]).toEqual(['yes', url]);
  expect(Number(meta.headers.get('x-count'))).toBeGreaterThan(0);
  expect((await send('/api/v1/meta/')).status).toBe(404);
  expect(await json('/local')).toMatchObject({ meta: { code: 0 }, hello: 'hi', called: 200, posted: { code: 40001 } });
  expect(await json('/storage')).toEqual({
    stored: { stored: true },
    setting: isDevelopment ? 'default' : 'from the environment',
    ran: { result: 'ran' },
  });
  const document = z.object({ paths: z.record(z.string(), z.unknown()) }).parse(await json('/openapi.json'));
  expect(Object.keys(document.paths)).toContain('/api/v1/meta');
  expect(Object.keys(document.paths)).not.toContain('/api/v1/plain');

  // Rules.
  const redirected = await send('/old/x');
  expect([redirected.status, redirected.headers.get('location')]).toEqual([307, '/hello']);
  asked = [];
  expect(await text('/proxied')).toBe('from elsewhere');
  expect(asked.map(({ authorization: sent }) => sent)).toEqual([undefined]);

  // Nitro's own handlers of the dev server.
  if (isDevelopment) expect(await json('/_nitro/tasks')).toMatchObject({ tasks: { mark: {} } });

  // WebSockets.
  const socket = new WebSocket(`${url.replace('http', 'ws')}/socket`, [`service-code.bearer.${token}`]);
  const received: string[] = [];
  socket.on('message', (data) => received.push(data.toString()));
  socket.on('open', () => socket.send('x'));
  await eventually(() => expect(received).toEqual(['echo x']));
  expect(socket.protocol).toBe(`service-code.bearer.${token}`);
  socket.terminate();
  expect(status(await rawUpgrade(url, '/socket'))).toBe(401);
  expect(await rawUpgrade(url, '/hello', { Authorization: authorization })).not.toMatch(/^HTTP\/1\.1 101/);

  // Attacks: no request without the token reaches Nitro, whose middleware counts.
  const before = await count();
  for (const target of [
    '/hello',
    '/%68ello',
    '//hello',
    '/hello/',
    'http://localhost/hello',
    '/all/x',
    '/all/..%2Fhello',
    '/preflight',
    '/old/x',
    '/proxied',
    '/socket',
    '/api/short',
    '/api/v1/plain',
    '/api/v1%2Fhealthz',
    '/api/v1/meta',
  ]) {
    for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
      await requestWithoutBody(url, method, target);
      await requestWithoutBody(url, method, target, { Origin: 'http://localhost' });
      await requestWithoutBody(url, method, target, { Authorization: 'Bearer wrong' });
    }
    expect([target, status(await rawUpgrade(url, target))]).not.toEqual([target, 101]);
  }
  expect(await count()).toBe(before + 1);
  for (const target of ['/hello', '/%68ello', '/all/x', '/old/x', '/proxied', '/api/v1%2Fhealthz']) {
    expect([target, status(await requestWithoutBody(url, 'GET', target))]).toEqual([target, 401]);
  }
  expect(asked).toHaveLength(1);
}

const marksOf = (file: string) => readFile(file, 'utf8').catch(() => '');

describe('the built server', () => {
  let server: SpawnedServer;
  let folder: string;
  let marks: string;
  beforeAll(async () => {
    folder = await temporaryDirectory();
    marks = join(folder, 'marks');
    const { code, output } = await project.build();
    if (code !== 0) throw new Error(`the build failed:\n${output}`);
    const env = { PLUGIN_MARKS: marks, NITRO_SETTING: 'from the environment', NODE_ENV: '', TEST: '', VITEST: '' };
    server = await spawnServer({ entry: project.entry, env });
  });
  afterAll(async () => {
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs the program until it exits. */
  async function run(args: string[], env: NodeJS.ProcessEnv) {
    const options = { env: { ...process.env, SERVICE_CODE_HOME: join(folder, 'home'), ...env } };
    const child = spawn(process.execPath, [project.entry, ...args], options);
    let printed = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: Buffer) => (printed += text.toString()));
    const [code] = await once(child, 'close');
    return { code, printed };
  }

  it('serves them all', () => expectIdioms(server, false));

  it('serves, validates and documents an endpoint that is a file alone', async () => {
    expect(await server.api('POST', '/people/ann:greet', { loud: true })).toMatchObject({
      code: 0,
      data: { greeting: 'ANN' },
    });
    expect(await server.api('POST', '/people/ann:greet', {})).toMatchObject({
      code: 40001,
      details: [{ path: 'loud' }],
    });
    expect(await server.api('POST', '/people/ann:leave', {})).toMatchObject({ msg: 'unsupported action: ann:leave' });
    const document: unknown = await (await server.fetch('/openapi.json')).json();
    expect(document).toMatchObject({
      paths: { '/api/v1/people/{name}:greet': { post: { operationId: 'greet', requestBody: { required: true } } } },
    });
  });

  it('logs an error that its answer does not show', async () => {
    await server.fetch('/errors/broken');
    const log = () => readFile(join(server.home, 'logs', 'service-code.log'), 'utf8');
    await expect.poll(log).toContain('a secret');
  });

  it('runs scheduled tasks', () => expect.poll(() => marksOf(marks)).toMatch(/^started\n(task\n)+/));

  it('runs no plugin for a command that starts no server', async () => {
    const own = join(folder, 'unused');
    for (const args of [['--help'], ['--version'], ['rotate-token']]) await run(args, { PLUGIN_MARKS: own });
    expect(await marksOf(own)).toBe('');
  });

  it('does not start with a plugin that throws', async () => {
    const { code, printed } = await run(['--port', '0', '--no-open'], { PLUGIN_THROWS: 'no such service' });
    expect([code, printed]).toEqual([1, expect.stringContaining('service-code: Error: no such service')]);
  });

  it('closes sockets and plugins on a stop, after the last request and before the app', async () => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/socket`, {
      headers: { authorization: `Bearer ${server.token}` },
    });
    await once(socket, 'open');
    const closed = once(socket, 'close');
    const slow = server.fetch('/slow');
    await expect.poll(() => marksOf(marks)).toContain('waiting');
    expect(await server.stop()).toBe(0);
    expect(await (await slow).text()).toBe('slow');
    const [code] = await closed;
    expect(code).toBe(1001);
    const ends = (await marksOf(marks)).split('\n').filter((line) => /^(answered|closed)/.test(line));
    expect(ends).toEqual(['answered', 'closed before 1 app']);
  });
});

describe('nitro dev', () => {
  let server: DevelopmentServer;
  let home: string;
  let token: string;
  beforeAll(async () => {
    home = await temporaryDirectory();
    server = await project.develop(home);
    token = await readFile(join(home, 'server.token'), 'utf8');
  });
  afterAll(async () => {
    if (server?.process.exitCode === null) {
      server.process.kill('SIGKILL');
      await once(server.process, 'exit');
    }
    await rm(home, { recursive: true, force: true });
  });
  const send = (path: string) => fetch(server.url + path, { headers: { authorization: `Bearer ${token}` } });

  it('serves them all', () => expectIdioms({ url: server.url, token }, true));

  const untilBuilt = (check: () => Promise<boolean> | boolean, what: string) => until(check, what, BUILD_PATIENCE_MS);

  it('serves a file as soon as it is dropped, and says what is wrong with one', async () => {
    await project.write(
      'routes/dropped.get.ts',
      `import { defineEventHandler } from 'h3';\nexport default defineEventHandler(() => 'dropped');\n`,
    );
    // Editors create a file before they write it.
    await project.write('routes/api/v1/later.get.ts', '');
    await untilBuilt(async () => (await (await send('/dropped')).text()) === 'dropped', 'the dropped file');
    await untilBuilt(async () => (await send('/api/v1/later')).status === 500, 'the empty file');
    await project.write(
      'routes/wrong.ts',
      `import { defineEndpoint } from '#utils/endpoint.ts';\nexport default defineEndpoint({ summary: 'Wrong', handler: () => undefined });\n`,
    );
    await untilBuilt(() => server.output().includes('routes/wrong.ts is an endpoint and needs a method'), 'the reason');
    await project.write(
      'routes/wrong.ts',
      `import { defineEventHandler } from 'h3';\nexport default defineEventHandler(() => 'right');\n`,
    );
    await project.write(
      'routes/api/v1/later.get.ts',
      `import * as z from 'zod';
import { defineEndpoint } from '#utils/endpoint.ts';
export default defineEndpoint({ summary: 'Later', data: z.literal('later'), handler: () => 'later' as const });\n`,
    );
    await untilBuilt(async () => (await (await send('/wrong')).text()) === 'right', 'the corrected file');
    await untilBuilt(
      async () => (await (await send('/api/v1/later')).text()).includes('"data":"later"'),
      'the endpoint',
    );
    // Several builds of the dev server.
  }, 1_800_000);
});
