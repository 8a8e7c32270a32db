/**
 * Runs the built output, which has to be built first, as a process. Imports no module of the server: loading them takes
 * several seconds of each test file.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { inNamespace, seenBy } from './namespace.ts';
import { PATIENCE_MS } from './patience.ts';
import { serverClient, type ServerClient } from './server-client.ts';
import { temporaryDirectory } from './temporary-directory.ts';

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
    ...serverClient(url, token),
    stop,
    async close() {
      await stop();
      if (givenHome === undefined) await rm(home, { recursive: true, force: true });
    },
  };
}
