/** One connection: well-behaved and misbehaving programs, HTTP, SSE. */
import { spawn } from 'node:child_process';
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import type { Duplex } from 'node:stream';
import { appendFile, readFile, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import * as z from 'zod';
import { connectServer, type ConnectOptions, type McpConnection } from '#server/mcp/connect.ts';
import { failureKind } from '#server/mcp/failures.ts';
import { createHttpClient } from '#server/net/http-client.ts';
import { systemNetwork } from '#server/net/network.ts';
import { processAlive } from '#server/processes/process-alive.ts';
import { spawnGroup } from '#server/processes/spawn.ts';
import type { McpServerConfig } from '#schema/config/mcp-server.ts';
import { startOAuthMcpServer, type OAuthMcpServer } from '#support/oauth-mcp-server.ts';
import { until } from '#support/patience.ts';
import { watchStalls } from '#support/stalls.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const HOSTILE = resolve('tests/support/hostile-mcp-server.mjs');
const EVERYTHING = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const FILES = resolve('node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');

const http = createHttpClient();
afterAll(() => http.close());

type StdioConfig = Extract<McpServerConfig, { command: string }>;
type RemoteConfig = Extract<McpServerConfig, { url: string }>;

const program = (...args: string[]): StdioConfig => ({ transport: 'stdio', command: process.execPath, args });
const hostile = (modes = '', file = '') => program(HOSTILE, modes, file);

const defaults: ConnectOptions = {
  root: process.cwd(),
  env: process.env,
  spawn: spawnGroup,
  fetch: http.fetch,
  network: systemNetwork,
  clientName: 'tester',
  timeoutMs: 15_000,
  roots: async () => ['/workspace', '/more'],
};

async function open(config: McpServerConfig, options: Partial<ConnectOptions> = {}): Promise<McpConnection> {
  const connection = await connectServer(config, { ...defaults, ...options });
  onTestFinished(() => connection.close());
  return connection;
}

const failure = async (config: McpServerConfig, options?: Partial<ConnectOptions>): Promise<string> =>
  open(config, options).then(
    () => 'connected',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

/** How a connection is lost that the server breaks, during the handshake or after it. */
const ending = async (config: McpServerConfig): Promise<string> =>
  open(config).then(
    async ({ lost }) => (await lost).error,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

const call = (
  connection: McpConnection,
  text: string,
  options: Partial<Parameters<McpConnection['callTool']>[2]> = {},
) => connection.callTool('echo', { text }, { timeoutMs: 10_000, ...options });

const said = async (connection: McpConnection, text: string) => {
  const [first] = (await call(connection, text)).content;
  return first?.type === 'text' ? first.text : '';
};

const notes = async () => join(await temporaryHome(), 'notes');
const noted = (file: string) => readFile(file, 'utf8').catch(() => '');

test('a program receives the client name, its directory, and its configured environment without our secrets', async () => {
  const file = await notes();
  const root = await realpath(await temporaryHome());
  const env = {
    ...process.env,
    SERVICE_CODE_PASSWORD: 'p',
    SERVICE_MODEL_API_KEY: 'k',
    OPEN: 'o',
    HTTP_PROXY: 'http://proxy:1',
    NO_PROXY: 'example.com',
  };
  const connection = await open({ ...hostile('', file), env: { OWN: 'x', OPEN: 'mine' } }, { root, env });
  expect(connection.tools).toEqual([expect.objectContaining({ name: 'echo', description: 'Says it again.' })]);
  expect(await said(connection, 'cwd')).toBe(root);
  const child = z.record(z.string(), z.string()).parse(JSON.parse(await said(connection, 'env')));
  expect(child).toMatchObject({ OWN: 'x', OPEN: 'mine', NO_PROXY: 'example.com,localhost,127.0.0.1,::1' });
  expect(Object.keys(child)).not.toEqual(expect.arrayContaining(['SERVICE_CODE_PASSWORD']));
  expect(Object.keys(child)).not.toEqual(expect.arrayContaining(['SERVICE_MODEL_API_KEY']));
  expect(await noted(file)).toContain('"clientInfo":{"name":"tester"');
  expect(await noted(file)).toContain('"capabilities":{"roots":{}}');
});

test('the roots are sent on request; other requests of the server are answered with method not found', async () => {
  const file = await notes();
  await open(hostile('asks', file));
  await until(async () => (await noted(file)).split('\n').filter((line) => line.startsWith('answer')).length === 2);
  expect(await noted(file)).toContain('{"roots":[{"uri":"file:///workspace"},{"uri":"file:///more"}]}');
  expect(await noted(file)).toContain('"code":-32601');
});

test('a program that cannot be started is reported with the reason and its last output', async () => {
  expect(await failure({ transport: 'stdio', command: 'no-such-program-here' })).toBe(
    'spawn no-such-program-here ENOENT',
  );
  const crashed = await failure(hostile('crash'));
  expect(crashed).toMatch(/^the server exited with code 3\nx+\nlast words$/);
  expect(Buffer.byteLength(crashed)).toBeLessThan(4096 + 50);
  expect(await failure({ ...hostile(), runtime_id: 'other' })).toBe('runtime other does not exist');
});

test('a program that exits before the first request is reported with the reason, too', async () => {
  const script = 'console.error("last words"); process.exit(3)';
  const crashed = await failure(program('-e', script), {
    async spawn(request) {
      const running = await spawnGroup(request);
      await running.ended;
      return running;
    },
  });
  expect(crashed).toBe('the server exited with code 3\nlast words');
});

test('a program that does not answer is given up and stopped', async () => {
  const file = await notes();
  expect(await failure(hostile('silent,stubborn', file), { timeoutMs: 1500 })).toBe(
    'the server did not answer within 1500 ms',
  );
  const pid = Number(/started (\d+)/.exec(await noted(file))?.[1]);
  expect(processAlive(pid)).toBe(false);
});

test('an endless list, and an endless message, end the attempt', async () => {
  expect(await failure(hostile('endless'))).toBe('the list of tools has more than 64 pages');
  expect(await failure(hostile('long-line'))).toBe('the server sent a message of more than 16 MiB');
});

test('lines that are not messages, unrequested answers and duplicate answers do no harm', async () => {
  const connection = await open(hostile('noise,twice'));
  for (const text of ['a', 'b', 'c']) expect(await said(connection, text)).toBe(`echo: ${text}`);
});

test.each([
  { modes: 'flood', error: 'the server sent more than 1000 messages a second' },
  { modes: 'request-flood', error: 'the server sends more requests than are answered' },
])(
  'a program that sends a $modes loses its connection and is stopped; the event loop stays free',
  async ({ modes, error }) => {
    const file = await notes();
    const watch = await watchStalls();
    expect(await ending(hostile(modes, file))).toBe(error);
    const pid = Number(/started (\d+)/.exec(await noted(file))?.[1]);
    await until(() => !processAlive(pid));
    expect(watch.stop().filter(({ ms }) => ms > 150)).toEqual([]);
  },
);

test('a program may log 2,000 lines at its start, send 100 requests and report progress 100 times a second in 64 calls', async () => {
  const file = await notes();
  const connection = await open(hostile('logs', file));
  expect(await said(connection, 'pings')).toBe('asked');
  await until(async () => (await noted(file)).split('\n').filter((line) => line === 'answer {}').length === 100);
  let steps = 0;
  const steady = call(connection, 'steady', { onProgress: () => void (steps += 1) });
  const echoes = await Promise.all(Array.from({ length: 64 }, (_, n) => said(connection, `n${n}`)));
  expect(echoes).toEqual(Array.from({ length: 64 }, (_, n) => `echo: n${n}`));
  await steady;
  // The last report may arrive in one chunk with the answer, which ends the call.
  expect(steps).toBeGreaterThanOrEqual(199);
});

test.each([
  { end: 'its connection', modes: 'grandchild' },
  { end: 'it', modes: 'grandchild,stubborn' },
])('the processes that a program has started end with $end', async ({ end, modes }) => {
  const file = await notes();
  const connection = await open(hostile(modes, file));
  await until(async () => (await noted(file)).includes('grandchild'));
  const pid = Number(/grandchild (\d+)/.exec(await noted(file))?.[1]);
  expect(processAlive(pid)).toBe(true);
  if (end === 'it') await call(connection, 'exit').catch(() => undefined);
  else await connection.close();
  await until(() => !processAlive(pid));
});

test('a crash during a call is reported immediately, and as a loss of the connection', async () => {
  const connection = await open(hostile());
  const error = await call(connection, 'exit').catch((thrown: unknown) => thrown);
  expect(failureKind(error)).toBe('lost');
  expect(await connection.lost).toEqual({ error: 'the server exited with code 5', needsAuth: false });
});

test('failures of a call are distinguished', async () => {
  const connection = await open(hostile());
  const kind = (text: string, options = {}) =>
    call(connection, text, options).catch((error: unknown) => failureKind(error));
  expect(await kind('refused')).toBe('refused');
  expect(await kind('malformed')).toBe('refused');
  expect(await kind('hang', { timeoutMs: 200 })).toBe('timeout');
  expect(await connection.alive()).toBe(true);
});

test('an abort cancels the call on the server', async () => {
  const file = await notes();
  const connection = await open(hostile('', file));
  const controller = new AbortController();
  const running = call(connection, 'hang', { signal: controller.signal });
  await until(async () => (await noted(file)).includes('call echo hang'));
  controller.abort(new Error('enough'));
  await expect(running).rejects.toThrow('enough');
  await until(async () => (await noted(file)).includes('notifications/cancelled'));
});

test('the reference servers are understood: everything and files', async () => {
  const root = await realpath(await temporaryHome());
  await appendFile(join(root, 'a.txt'), 'hello');
  const everything = await open(program(EVERYTHING));
  expect(everything.tools.length).toBeGreaterThan(5);
  const echoed = await everything.callTool('echo', { message: 'hi' }, { timeoutMs: 10_000 });
  expect(echoed.content).toEqual([expect.objectContaining({ type: 'text', text: expect.stringContaining('hi') })]);
  const files = await open(program(FILES, root), { roots: async () => [root] });
  const read = await files.callTool('read_text_file', { path: join(root, 'a.txt') }, { timeoutMs: 10_000 });
  expect(JSON.stringify(read.content)).toContain('hello');
});

async function everythingOver(transport: 'streamableHttp' | 'sse'): Promise<string> {
  // A port that is free at this moment.
  const probe = createHttp().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  await new Promise((done) => probe.close(done));
  const child = spawn(process.execPath, [EVERYTHING, transport], {
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const url = `http://127.0.0.1:${port}/${transport === 'sse' ? 'sse' : 'mcp'}`;
  await until(() =>
    fetch(url, { method: 'OPTIONS' }).then(
      () => true,
      () => false,
    ),
  );
  return url;
}

test.each(['streamableHttp', 'sse'] as const)('over %s, with progress', async (transport) => {
  const url = await everythingOver(transport);
  const connection = await open({ transport: transport === 'sse' ? 'sse' : 'http', url });
  const echoed = await connection.callTool('echo', { message: 'hi' }, { timeoutMs: 10_000 });
  expect(JSON.stringify(echoed.content)).toContain('hi');
  const steps: number[] = [];
  await connection.callTool(
    'trigger-long-running-operation',
    { duration: 0.5, steps: 2 },
    { timeoutMs: 10_000, onProgress: ({ progress }) => void steps.push(progress) },
  );
  expect(steps.length).toBeGreaterThan(0);
});

async function answering(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createHttp(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/mcp`;
}

test('configured headers are sent, a bearer variable replaces an authorization; without its value there is no request', async () => {
  const seen: IncomingMessage['headers'][] = [];
  const url = await answering((request, response) => {
    seen.push(request.headers);
    response.writeHead(500).end('broken');
  });
  const headers = { 'x-own': '1', Authorization: 'Basic abc' };
  expect(await failure({ transport: 'http', url, headers })).toContain('broken');
  expect(
    await failure({ transport: 'http', url, headers, bearerTokenEnvVar: 'T' }, { env: { T: 'secret' } }),
  ).toContain('broken');
  expect(seen.map(({ authorization, 'x-own': own }) => [authorization, own])).toEqual([
    ['Basic abc', '1'],
    ['Bearer secret', '1'],
  ]);
  const unset = { transport: 'http', url, bearerTokenEnvVar: 'SERVICE_CODE_PASSWORD' } as const;
  const env = { SERVICE_CODE_PASSWORD: 'p' };
  expect(await failure(unset, { env })).toBe('environment variable SERVICE_CODE_PASSWORD is not set');
  expect(seen).toHaveLength(2);
});

test('401 requires a sign-in, unless a credential is configured', async () => {
  const url = await answering((_request, response) => response.writeHead(401).end());
  const needsAuth = (more: Partial<RemoteConfig>) =>
    open({ transport: 'http', url, ...more }, { env: { T: 't' } }).catch(
      (error: unknown) => error instanceof Error && 'needsAuth' in error && error.needsAuth,
    );
  expect(await needsAuth({})).toBe(true);
  expect(await needsAuth({ transport: 'sse' })).toBe(true);
  expect(await needsAuth({ headers: { 'x-key': '1' } })).toBe(false);
  expect(await needsAuth({ headers: { 'x-key': '1' }, auth: 'oauth' })).toBe(true);
  expect(await needsAuth({ bearerTokenEnvVar: 'T' })).toBe(false);
});

test('addresses other than http are refused, and an endless answer is not buffered', async () => {
  expect(await failure({ transport: 'http', url: 'file:///etc/passwd' })).toMatch(/not one of http or https/);
  const url = await answering((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const block = 'x'.repeat(1024 * 1024);
    const pour = () => {
      while (response.write(block)) if (response.destroyed) return;
      response.once('drain', pour);
    };
    pour();
  });
  expect(await failure({ transport: 'http', url })).toMatch(/more than 16777216 bytes at once/);
});

/** An event stream that sends blocks of messages as fast as they are read; other requests get valid MCP answers. */
const flooding = (block: () => string) =>
  answering(async (request, response) => {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const pour = () => {
        while (!response.destroyed && response.write(block()));
        response.once('drain', pour);
      };
      pour();
      return;
    }
    const text = await readText(request);
    const { id, method } = z
      .object({ id: z.unknown().optional(), method: z.string().optional() })
      .parse(JSON.parse(text || '{}'));
    if (id === undefined || method === undefined) {
      // Our responses are not accepted: they stay in progress.
      if (id === undefined) response.writeHead(202).end();
      return;
    }
    const hello = {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'flood', version: '1' },
    };
    const result = method === 'initialize' ? hello : { tools: [] };
    response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'one' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });

const event = (message: object) => `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;

test('an event stream that floods with notifications, no messages or requests loses its connection', async () => {
  const budget = 'the server sent more than 1000 messages a second';
  const notification = event({ method: 'notifications/unknown' }).repeat(200);
  expect(await ending({ transport: 'http', url: await flooding(() => notification) })).toBe(budget);
  const noise = 'event: message\ndata: {broken\n\n'.repeat(200);
  expect(await ending({ transport: 'http', url: await flooding(() => noise) })).toBe(budget);
  let id = 0;
  const requests = () => Array.from({ length: 50 }, () => event({ id: (id += 1), method: 'ping' })).join('');
  expect(await ending({ transport: 'http', url: await flooding(requests) })).toBe(
    'the server sends more requests than are answered',
  );
});

test.each([
  ['comments', ': nothing\n'.repeat(500)],
  ['empty lines', '\n'.repeat(5000)],
  ['ids', 'id: 1\n\n'.repeat(500)],
  ['events of other types', 'event: other\ndata: x\n\n'.repeat(500)],
  ['large events of other types', `event: other\ndata: ${'x'.repeat(1024 * 1024)}\n\n`],
])('an event stream that floods with %s loses its connection', async (_what, block) => {
  const watch = await watchStalls();
  expect(await ending({ transport: 'http', url: await flooding(() => block) })).toBe(
    'the server sent more than 4000 lines a second besides its messages',
  );
  expect(watch.stop().filter(({ ms }) => ms > 150)).toEqual([]);
});

test('a server may answer each call with a stream, report progress 100 times a second in 64 calls, and send comments', async () => {
  const url = await answering(async (request, response) => {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n');
      const alive = setInterval(() => response.write(': alive\n\n'), 10);
      response.once('close', () => clearInterval(alive));
      return;
    }
    const { id, method, params } = z
      .object({
        id: z.number().optional(),
        method: z.string().optional(),
        params: z
          .looseObject({
            arguments: z.object({ text: z.string() }).optional(),
            _meta: z.looseObject({ progressToken: z.number() }).optional(),
          })
          .optional(),
      })
      .parse(JSON.parse((await readText(request)) || '{}'));
    if (id === undefined || method === undefined) return void response.writeHead(202).end();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const asked = params?.arguments?.text;
    const finish = (result: object) => response.end(event({ id, result }));
    if (method === 'initialize') {
      const capabilities = { tools: {} };
      finish({ protocolVersion: '2025-06-18', capabilities, serverInfo: { name: 'busy', version: '1' } });
    } else if (asked === 'steady') {
      let step = 0;
      const timer = setInterval(() => {
        const progress = { progressToken: params?._meta?.progressToken, progress: (step += 1) };
        response.write(`id: ${step}\n: step\n${event({ method: 'notifications/progress', params: progress })}`);
        if (step < 200) return;
        clearInterval(timer);
        finish({ content: [{ type: 'text', text: 'done' }] });
      }, 10);
    } else if (method === 'ping') finish({});
    else finish(asked === undefined ? { tools: [] } : { content: [{ type: 'text', text: `echo: ${asked}` }] });
  });
  const connection = await open({ transport: 'http', url });
  let steps = 0;
  const steady = call(connection, 'steady', { onProgress: () => void (steps += 1) });
  const echoes = await Promise.all(Array.from({ length: 64 }, (_, n) => said(connection, `n${n}`)));
  expect(echoes).toEqual(Array.from({ length: 64 }, (_, n) => `echo: n${n}`));
  await steady;
  // The last report may arrive in one chunk with the answer, which ends the call.
  expect(steps).toBeGreaterThanOrEqual(199);
  expect(await connection.alive()).toBe(true);
});

test('only revisions of the protocol are negotiated in which requests of the server are answered', async () => {
  const methods: string[] = [];
  const url = await answering(async (request, response) => {
    const { id, method } = z
      .object({ id: z.unknown(), method: z.string() })
      .parse(JSON.parse((await readText(request)) || '{"method":"none"}'));
    methods.push(method);
    response.writeHead(200, { 'content-type': 'application/json' });
    const serverInfo = { name: 'modern', version: '1' };
    const result = { protocolVersion: '2026-07-28', capabilities: {}, serverInfo };
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
  expect(await failure({ transport: 'http', url })).toContain('protocol version is not supported: 2026-07-28');
  expect(methods[0]).toBe('initialize');
});

describe('the name of a server without encryption', () => {
  /** An MCP server at this address, and its port. */
  const named = (guarded: OAuthMcpServer) => ({
    transport: 'http' as const,
    url: `http://mcp.example:${new URL(guarded.url).port}/mcp`,
  });

  // On systems other than Linux only 127.0.0.1 of the loopback network is an address of the machine.
  test.skipIf(process.platform !== 'linux')(
    'is resolved once a connection: it cannot lead to another host later',
    async () => {
      const guarded = await startOAuthMcpServer();
      guarded.behaviour.open = true;
      const victims: string[] = [];
      const victim = createHttp((request, response) => {
        victims.push(request.url ?? '');
        response.end('{}');
      });
      await new Promise<void>((resolve) => victim.listen(Number(new URL(guarded.url).port), '127.0.0.2', resolve));
      onTestFinished(() => void victim.close());
      let asked = 0;
      const network = { resolve: async () => [`127.0.0.${(asked += 1)}`] };
      const connection = await open(named(guarded), { network });
      expect(connection.tools.map(({ name }) => name)).toEqual(['look', 'bare']);
      // The client opens more than one connection.
      const calls = Array.from({ length: 20 }, () => connection.callTool('look', {}, { timeoutMs: 15_000 }));
      for (const { content } of await Promise.all(calls)) {
        expect(content).toEqual([{ type: 'text', text: 'answered tools/call' }]);
      }
      expect([asked, victims]).toEqual([1, []]);
    },
  );

  test('is part of the error when it cannot be resolved', async () => {
    const guarded = await startOAuthMcpServer();
    const network = { resolve: async () => Promise.reject(new Error('getaddrinfo ENOTFOUND mcp.example')) };
    expect(await failure(named(guarded), { network })).toContain('ENOTFOUND mcp.example');
  });

  describe('with a proxy of the environment', () => {
    /** Tunnels every connection to the port of the server. */
    async function startProxy(port: number) {
      const heads: string[] = [];
      const proxy = createHttp();
      const sockets = new Set<Duplex>();
      proxy.on('connect', (request: IncomingMessage, socket: Duplex) => {
        heads.push(`CONNECT ${request.url}`);
        const server = createConnection(port, '127.0.0.1');
        for (const one of [socket, server]) {
          sockets.add(one);
          one.on('error', () => undefined);
        }
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        socket.pipe(server).pipe(socket);
      });
      proxy.listen(0, '127.0.0.1');
      await once(proxy, 'listening');
      onTestFinished(() => {
        vi.unstubAllEnvs();
        for (const socket of sockets) socket.destroy();
        proxy.close();
      });
      const { port: own } = z.object({ port: z.number() }).parse(proxy.address());
      vi.stubEnv('HTTP_PROXY', `http://127.0.0.1:${own}`);
      vi.stubEnv('HTTPS_PROXY', `http://127.0.0.1:${own}`);
      return heads;
    }

    test('is resolved here, and the proxy receives the address of the tunnel', async () => {
      const guarded = await startOAuthMcpServer();
      guarded.behaviour.open = true;
      const heads = await startProxy(Number(new URL(guarded.url).port));
      const connection = await open(named(guarded), { network: { resolve: async () => ['203.0.113.7'] } });
      expect(connection.tools.map(({ name }) => name)).toEqual(['look', 'bare']);
      expect(new Set(heads)).toEqual(new Set([`CONNECT 203.0.113.7:${new URL(guarded.url).port}`]));
    });

    test('must have an address here; the name of an encrypted server is left to the proxy', async () => {
      const guarded = await startOAuthMcpServer();
      const heads = await startProxy(Number(new URL(guarded.url).port));
      const network = { resolve: async () => Promise.reject(new Error('getaddrinfo ENOTFOUND mcp.example')) };
      const client = createHttpClient();
      onTestFinished(client.close);
      const { url } = named(guarded);
      expect(await failure({ transport: 'http', url }, { network, fetch: client.fetch })).toContain(
        'ENOTFOUND mcp.example',
      );
      expect(heads).toEqual([]);
      const encrypted = url.replace('http:', 'https:');
      expect(await failure({ transport: 'http', url: encrypted }, { network, fetch: client.fetch })).not.toContain(
        'ENOTFOUND',
      );
      expect(heads).toContain(`CONNECT ${new URL(url).host}`);
    });
  });
});
