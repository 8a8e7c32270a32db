/** The server that `acp` and `run` use: a named one, a running one of the home, or one of their own. */
import * as z from 'zod';
import { openToken } from '#server/auth/token.ts';
import { StartError } from '#server/errors/start-error.ts';
import { openHome } from '#server/home/home.ts';
import { sharedInstances, type Instance } from '#server/home/instances.ts';
import { SERVER_VERSION } from '#server/version.ts';
import type { Program } from './commands/command.ts';
import { listen } from './listen.ts';
import { parseStart } from './options.ts';
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
  /** Path of the only certificate to trust; undefined for those that Node trusts. */
  certificate?: string | undefined;
  /** Whether it runs in this process. */
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

const HOST = '127.0.0.1';
const WILDCARDS = new Map([
  ['0.0.0.0', HOST],
  ['::', '[::1]'],
]);

/** Address at which this machine reaches a server of the home. */
export function addressOf({ host, port, base_path: base = '', certificate }: Omit<Instance, 'pid'>): string {
  const name = WILDCARDS.get(host) ?? (host.includes(':') ? `[${host}]` : host);
  return `${certificate === undefined ? 'http' : 'https'}://${name}:${port}${base}/`;
}

/** The message does not repeat the text, which may contain a token. */
function parseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if ((url?.protocol !== 'http:' && url?.protocol !== 'https:') || url.username !== '' || url.password !== '') {
    throw new StartError('invalid URL of the server: expected http:// or https://, and no user');
  }
  url.hash = url.search = '';
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url.href;
}

/** Starts a server in this process, on a free port of 127.0.0.1. Other commands do not use it. */
async function startOwn({ open }: Program, demo: boolean): Promise<FoundServer> {
  const { app, served } = await open({ ...parseStart([]), host: HOST, port: 0, open: false, demo });
  try {
    const port = await listen(served.server, HOST, 0, () => undefined);
    await app.listening(port, { isShared: false });
    return {
      url: `http://${HOST}:${port}/`,
      token: await app.token(),
      isOwn: true,
      close: () => stopServer(app, served),
    };
  } catch (error) {
    await app.close();
    throw error;
  }
}

/** Throws `StartError` for invalid options, and if no server can be started. */
export async function findServer(choice: ServerChoice, program: Program): Promise<FoundServer> {
  const { SERVICE_CODE_URL, SERVICE_CODE_TOKEN } = process.env;
  // Programs that a server of this process starts do not inherit it.
  delete process.env.SERVICE_CODE_TOKEN;
  const close = () => Promise.resolve();
  if (choice.demo) {
    if (choice.url !== undefined) throw new StartError("option '--demo' starts a server: it excludes '--url'");
    return startOwn(program, true);
  }
  const url = choice.url ?? SERVICE_CODE_URL;
  // The token of this home is not sent to an address that may belong to another machine or user.
  if (url) return { url: parseUrl(url), token: choice.token ?? SERVICE_CODE_TOKEN, isOwn: false, close };
  if (choice.token !== undefined) throw new StartError("option '--token' needs '--url'");
  await openHome(program.home);
  const [running] = await sharedInstances(program.home, SERVER_VERSION);
  if (!running) return startOwn(program, false);
  const token = await (await openToken(program.home)).current();
  return { url: addressOf(running), token, certificate: running.certificate, isOwn: false, close };
}
