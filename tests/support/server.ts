/**
 * Servers for tests. `startServer` runs the real app in this process, on its own port and home, in a few milliseconds.
 * `spawnServer` runs the built output, which has to be built first.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import endpoints from '#endpoints';
import { appOptions, type AppOptions } from '#server/app/options.ts';
import { createApp, type App } from '#server/app/app.ts';
import { listen } from '#server/cli/listen.ts';
import { createLogger } from '#server/logging/log.ts';
import { PATIENCE_MS } from './patience.ts';
import { createAssetReader } from '#utils/http/assets.ts';
import { createHttpServer } from '#utils/http/http-server.ts';
import { createRouteTable, type EndpointEntry } from '#utils/http/route-table.ts';
import { createNitroApp, type NitroFiles } from './nitro-app.ts';
import { inNamespace, seenBy } from './namespace.ts';
import { FORBIDDEN_MS, watchStalls } from './stalls.ts';

const envelopeSchema = z.strictObject({
  code: z.number(),
  msg: z.string().min(1),
  // Untyped for tests; the endpoint's schema has validated it.
  data: z.json(),
  request_id: z.string(),
  details: z.json().optional(),
});
export type Envelope = z.infer<typeof envelopeSchema>;

export interface ApiAnswer extends Envelope {
  status: number;
  headers: Headers;
}

export interface ServerClient {
  /** `http://127.0.0.1:<port>`. */
  url: string;
  token: string;
  home: string;
  /** Sends a request with the token and a JSON body; `path` starts with `/api` or is relative to `/api/v1`. */
  api(method: string, path: string, body?: unknown): Promise<ApiAnswer>;
  /** Like `fetch`, with the token, for raw answers and other headers. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

export interface TestServer extends ServerClient {
  app: App;
}

export interface TestServerOptions extends Partial<AppOptions>, NitroFiles {
  /** Replaces all files of `routes/`. */
  endpoints?: EndpointEntry[];
  /** Folder of the page; default: a missing one. */
  webDirectory?: string;
  /** Why this server may block the event loop for longer than allowed, such as a body above 1 MiB. */
  mayStall?: string;
}

export const temporaryDirectory = (): Promise<string> => mkdtemp(join(tmpdir(), 'service-code-'));

function client(url: string, token: string): Pick<ServerClient, 'api' | 'fetch'> {
  const send = (path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    if (!headers.has('authorization')) headers.set('authorization', `Bearer ${token}`);
    return fetch(url + path, { ...init, headers });
  };
  return {
    fetch: send,
    async api(method, path, body) {
      const target = path.startsWith('/api/') ? path : `/api/v1${path}`;
      const response = await send(target, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      });
      const envelope = envelopeSchema.parse(await response.json());
      return { ...envelope, status: response.status, headers: response.headers };
    },
  };
}

/** Starts the app and listens on 127.0.0.1 (or `host`). `close` removes the home unless it was passed. */
export async function startServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { endpoints: entries = endpoints, plain = [], middleware, hasRule, webDirectory, mayStall, ...given } = options;
  const home = given.home ?? (await temporaryDirectory());
  const app = await createApp(appOptions({ port: 0, log: createLogger('silent'), ...given, home }));
  const assets = createAssetReader(() => webDirectory ?? join(home, 'no-page'));
  const { server, closeSockets } = await createHttpServer(app, {
    routes: createRouteTable(entries, plain),
    assets,
    createH3App: (host) => createNitroApp(host, { plain, middleware, hasRule }),
  });
  const port = await listen(server, app.options.host, app.options.port, () => undefined);
  await app.listening(port);
  const url = `http://127.0.0.1:${port}`;
  const token = (await app.token()) ?? '';
  const watch = await watchStalls();
  return {
    url,
    token,
    home,
    app,
    ...client(url, token),
    async close() {
      const stalls = watch.stop();
      const excuse = mayStall === undefined ? '' : ` (${mayStall})`;
      for (const { ms, where } of stalls) process.stderr.write(`stall of ${ms.toFixed(0)} ms${excuse}: ${where}\n`);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      closeSockets();
      await app.close();
      server.closeAllConnections();
      await closed;
      if (given.home === undefined) await rm(home, { recursive: true, force: true });
      const worst = stalls.find(({ ms }) => ms >= FORBIDDEN_MS);
      if (worst && mayStall === undefined && process.env.SERVICE_CODE_STALLS === 'fail') {
        throw new Error(`the server blocked the event loop for ${worst.ms.toFixed(0)} ms: ${worst.where}`);
      }
    },
  };
}

export interface SpawnedServer extends ServerClient {
  process: ChildProcess;
  /** Everything printed so far. */
  output(): string;
  /** The part of it that was printed on standard error. */
  errors(): string;
  /** Stops the process with a signal; resolves to the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface SpawnOptions {
  /** Allows the server to open a browser; name a program in `env.BROWSER`. */
  browser?: boolean;
  args?: string[];
  env?: NodeJS.ProcessEnv;
  home?: string;
  cwd?: string;
  /** Path of the program; default: the installed command. */
  entry?: string;
  /** A script that the server loads first, as do its threads. */
  preload?: string;
  /** User of the server process, where the test may choose; the home must belong to that user. */
  user?: { uid: number; gid: number };
  /** Shell commands for mounts that only the server sees (`namespace.ts`); `$1` is `home`, which is required. */
  mounts?: string;
  /** Limit of open files and sockets of the server. */
  descriptors?: number;
  /** Commands of the bash that execs the server, such as a redirection with `exec`. */
  prelude?: string;
}

/** The installed command, which starts the built output. */
const COMMAND = resolve(import.meta.dirname, '../../bin/service-code.cjs');
export const BUILT_ENTRY = resolve(import.meta.dirname, '../../.output/server/index.mjs');

/** Starts the built server on a free port and waits until it prints its address. */
export async function spawnServer(options: SpawnOptions = {}): Promise<SpawnedServer> {
  const {
    args = [],
    env = {},
    browser = false,
    home: givenHome,
    cwd,
    entry = COMMAND,
    preload,
    mounts,
    descriptors,
    prelude,
    user = {},
  } = options;
  const home = givenHome ?? (await temporaryDirectory());
  const limit = descriptors === undefined ? [] : ['sh', '-c', `ulimit -n ${descriptors}; exec "$@"`, 'sh'];
  const shell = prelude === undefined ? [] : ['bash', '-c', `${prelude}; exec "$@"`, 'bash'];
  const command = [
    ...limit,
    ...shell,
    process.execPath,
    ...(preload === undefined ? [] : ['--require', preload]),
    entry,
    '--port',
    '0',
    ...(browser ? [] : ['--no-open']),
    ...args,
  ];
  const [program = '', ...rest] = mounts === undefined ? command : inNamespace(mounts, home, command);
  const child = spawn(program, rest, {
    env: { ...process.env, SERVICE_CODE_HOME: home, ...env },
    cwd,
    ...user,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  let errors = '';
  child.stderr.on('data', (text: Buffer) => (errors += text.toString()));
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no URL was printed:\n${printed}`)), PATIENCE_MS);
    const onText = (text: Buffer) => {
      printed += text.toString();
      const [, scheme, port] = /(https?):\/\/[^\s/]+:(\d+)\//.exec(printed) ?? [];
      if (port === undefined) return;
      clearTimeout(timer);
      resolve(`${scheme}://127.0.0.1:${port}`);
    };
    child.stdout.on('data', onText);
    child.stderr.on('data', onText);
    child.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`the server ended with ${code}:\n${printed}`));
    });
  });
  const seenHome = mounts === undefined ? home : seenBy(child, home);
  const token = await readFile(join(seenHome, 'server.token'), 'utf8');
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    return exited;
  };
  return {
    url,
    token,
    home: seenHome,
    process: child,
    output: () => printed,
    errors: () => errors,
    ...client(url, token),
    stop,
    async close() {
      await stop();
      if (givenHome === undefined) await rm(home, { recursive: true, force: true });
    },
  };
}
