/** The server that `acp` and `run` use: a named one, a running one of the home, or one of their own. */
import * as z from 'zod';
import { openToken } from '#server/auth/token.ts';
import { StartError } from '#server/errors/start-error.ts';
import { openHome } from '#server/home/home.ts';
import { listeningHere } from '#server/home/instances.ts';
import { SERVER_VERSION } from '#server/version.ts';
import type { Program } from './commands/command.ts';
import { listen } from './listen.ts';
import { stopServer } from './start.ts';

export interface ServerChoice {
  /** Address of a server; default: `SERVICE_CODE_URL`. */
  url?: string | undefined;
  /** Default: `SERVICE_CODE_TOKEN`. */
  token?: string | undefined;
  /** Starts a server with the scripted model. */
  demo: boolean;
}

export interface FoundServer {
  /** With a slash at the end. */
  url: string;
  token: string | undefined;
  /** Whether it ends with this process. */
  isOwn: boolean;
  /** Stops a server of this process; a running one is left alone. */
  close(): Promise<void>;
}

/** The options of a command that uses a server, for its help text and its parser. */
export const serverArgs = {
  url: {
    type: 'string',
    valueHint: 'url',
    description: 'Server to use; default: SERVICE_CODE_URL, or one of this home',
  },
  token: {
    type: 'string',
    valueHint: 'token',
    description: 'Its token; SERVICE_CODE_TOKEN hides it from other users of the machine',
  },
  demo: { type: 'boolean', description: 'Start a server with a scripted model that runs offline' },
} as const;

export const serverOptions = z.object({
  url: z.string().optional(),
  token: z.string().optional(),
  demo: z.boolean().default(false),
});

const WILDCARDS = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

/** Address at which this machine reaches a server that is bound to `host`. */
function addressOf(host: string, port: number): string {
  const name = WILDCARDS.get(host) ?? host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}/`;
}

function parseUrl(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new StartError(`invalid URL '${text}': expected http:// or https://`);
  }
  url.hash = url.search = '';
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url.href;
}

/** Starts a server in this process, on a free port of 127.0.0.1. */
async function startOwn({ open }: Program, demo: boolean): Promise<FoundServer> {
  const { app, served } = await open({
    port: 0,
    host: '127.0.0.1',
    allowedHosts: [],
    logLevel: 'silent',
    debugEndpoints: false,
    bypassAuth: false,
    webTitle: undefined,
    open: false,
    allowRemoteShutdown: false,
    allowRemoteTerminals: false,
    remoteControl: false,
    demo,
  });
  try {
    const port = await listen(served.server, '127.0.0.1', 0, () => undefined);
    await app.listening(port);
    const close = () => stopServer(app, served);
    return { url: addressOf('127.0.0.1', port), token: await app.token(), isOwn: true, close };
  } catch (error) {
    await app.close();
    throw error;
  }
}

/** Throws `StartError` for an invalid URL, and if no server can be started. */
export async function findServer(choice: ServerChoice, program: Program): Promise<FoundServer> {
  const { SERVICE_CODE_URL, SERVICE_CODE_TOKEN } = process.env;
  const url = choice.url ?? SERVICE_CODE_URL;
  const close = () => Promise.resolve();
  if (url) {
    // The token of this home is not sent to an address that may belong to another machine or user.
    return { url: parseUrl(url), token: choice.token ?? SERVICE_CODE_TOKEN, isOwn: false, close };
  }
  if (choice.demo) return startOwn(program, true);
  await openHome(program.home);
  const [running] = await listeningHere(program.home, SERVER_VERSION);
  if (!running) return startOwn(program, false);
  const token = await (await openToken(program.home)).current();
  return { url: addressOf(running.host, running.port), token, isOwn: false, close };
}
