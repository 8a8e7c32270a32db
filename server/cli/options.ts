/** The command line: definition, parsing and usage text. */
import { stripVTControlCharacters } from 'node:util';
import { defineCommand, parseArgs, renderUsage } from 'citty';
import type { ArgsDef } from 'citty';
import { StartError } from '#server/errors/start-error.ts';
import { LOG_LEVELS } from '#server/logging/log.ts';
import type { LogLevel } from '#server/logging/log.ts';
import { parseTrustedProxies, type TrustedProxies } from '#server/net/trusted-proxies.ts';
import { SERVER_VERSION } from '#server/version.ts';
import { parseBasePath } from './base-path-option.ts';
import { parseHttps, type HttpsOptions } from './https-options.ts';

const args = {
  port: {
    type: 'string',
    valueHint: 'port',
    default: '58627',
    description: 'Bind port; a busy port is retried with +1',
  },
  host: {
    type: 'string',
    valueHint: 'host',
    default: '127.0.0.1',
    description: 'Bind host; without a value 0.0.0.0, which others can reach',
  },
  'allowed-host': {
    type: 'string',
    valueHint: 'host...',
    description: 'Extra Host header values to allow; repeatable or comma-separated',
  },
  'log-level': {
    type: 'string',
    valueHint: LOG_LEVELS.join('|'),
    default: 'silent',
    description: 'Log to standard output, one JSON object a line',
  },
  'debug-endpoints': { type: 'boolean', default: false, description: 'Mount /api/v1/debug/* (loopback bind only)' },
  'dangerous-bypass-auth': {
    type: 'boolean',
    default: false,
    description: 'Serve everything without a token: whoever reaches the port can run commands',
  },
  'web-title': {
    type: 'string',
    valueHint: 'title',
    description: 'Browser tab title; default: the workspace directory',
  },
  open: { type: 'boolean', default: true, negativeDescription: 'Do not open a browser when ready' },
  'allow-remote-shutdown': {
    type: 'boolean',
    default: false,
    description: 'Mount POST /api/v1/shutdown on a non-loopback bind',
  },
  'allow-remote-terminals': {
    type: 'boolean',
    default: false,
    description: 'Mount the terminal endpoints on a non-loopback bind',
  },
  'remote-control': {
    type: 'boolean',
    default: false,
    description: 'Make the server reachable through the relay of the login (loopback bind only)',
  },
  'base-path': {
    type: 'string',
    valueHint: 'path',
    default: '/',
    description: 'Path of the server at the address of a proxy',
  },
  'trust-proxy': {
    type: 'string',
    valueHint: 'address...',
    description:
      'Proxies whose forwarded headers count: addresses, CIDR ranges, loopback; repeatable or comma-separated; the server then counts as reachable by others',
  },
  https: { type: 'boolean', default: false, description: 'Speak TLS only, with a self-signed certificate by default' },
  cert: { type: 'string', valueHint: 'file', description: 'Certificate of --https (PEM), together with --key' },
  key: { type: 'string', valueHint: 'file', description: 'Private key of --cert (PEM)' },
  qr: { type: 'boolean', default: false, description: 'Print the access URL as a QR code' },
  demo: { type: 'boolean', default: false, description: 'Use a scripted model that runs offline' },
} as const satisfies ArgsDef;

const command = defineCommand({
  meta: {
    name: 'service-code',
    version: SERVER_VERSION,
    description: 'A local server that runs coding-agent sessions inside your own projects.',
  },
  args,
});

export interface StartOptions {
  port: number;
  host: string;
  allowedHosts: string[];
  logLevel: LogLevel;
  debugEndpoints: boolean;
  bypassAuth: boolean;
  webTitle: string | undefined;
  open: boolean;
  allowRemoteShutdown: boolean;
  allowRemoteTerminals: boolean;
  remoteControl: boolean;
  /** Without a final slash; empty if the server is the root of its origin. */
  basePath: string;
  /** Undefined without `--trust-proxy`. */
  trustedProxies: TrustedProxies | undefined;
  /** Undefined without `--https`. */
  https: HttpsOptions | undefined;
  qr: boolean;
  demo: boolean;
}

/** Options that take a value; the rest are switches. */
const VALUED = new Set(Object.entries(args).flatMap(([name, { type }]) => (type === 'string' ? [name] : [])));
const SWITCHES = new Set(Object.keys(args).flatMap((name) => (VALUED.has(name) ? [] : [name, `no-${name}`])));
/** Options with several values; citty keeps only the last of a repeated option. */
const LISTS = ['allowed-host', 'trust-proxy'] as const;
type ListName = (typeof LISTS)[number];
const BARE_HOST = '0.0.0.0';

interface Normalized {
  /** Options in the `--name=value` form, so that none can consume the next argument as its value. */
  options: string[];
  lists: Record<ListName, string[]>;
  words: string[];
}

function normalize(argv: string[]): Normalized {
  const result: Normalized = { options: [], lists: { 'allowed-host': [], 'trust-proxy': [] }, words: [] };
  const rest = [...argv];
  const isValue = (token: string | undefined): token is string => token !== undefined && !/^-./.test(token);

  for (let token = rest.shift(); token !== undefined; token = rest.shift()) {
    if (!token.startsWith('-')) {
      result.words.push(token);
      continue;
    }
    const [, name = '', inline] = /^--([^=]+)(?:=(.*))?$/s.exec(token) ?? [];
    if (SWITCHES.has(name) && inline === undefined) {
      result.options.push(token);
      continue;
    }
    if (!VALUED.has(name)) throw new StartError(`unknown option '${token}'`);
    let value = inline;
    // A negative number is an invalid port, not an option.
    if (value === undefined && (isValue(rest[0]) || (name === 'port' && /^-\d/.test(rest[0] ?? ''))))
      value = rest.shift();
    if (value === undefined && name === 'host') value = BARE_HOST;
    if (value === undefined) throw new StartError(`option '--${name}' needs a value`);
    const list = LISTS.find((listName) => listName === name);
    if (list) {
      result.lists[list].push(value);
      if (inline !== undefined) continue;
      while (isValue(rest[0])) result.lists[list].push(rest.shift() ?? '');
    } else result.options.push(`--${name}=${value}`);
  }
  return result;
}

function parsePort(text: string): number {
  const port = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (port >= 0 && port <= 65_535) return port;
  throw new StartError(`invalid port '${text}': expected a number from 0 to 65535`);
}

function parseLevel(text: string): LogLevel {
  const level = LOG_LEVELS.find((name) => name === text);
  if (level) return level;
  throw new StartError(`invalid log level '${text}': expected one of ${LOG_LEVELS.join(', ')}`);
}

const COMMANDS = `
COMMANDS

                  acp  Be the agent of an editor (Agent Client Protocol over stdin and stdout)
         run [prompt]  Run one prompt in a session and print the answer
         rotate-token  Replace the bearer token

Use service-code <command> --help for the options of a command.
`;

/** citty's text without its colours, which a pipe would show as codes, with the other commands. */
export async function startUsage(): Promise<string> {
  const text = stripVTControlCharacters(await renderUsage(command));
  return `${text.replace('--host=<host>', '--host[=<host>]').trimEnd()}\n${COMMANDS}`
    .replace(/[ \t]+$/gm, '')
    .trimEnd();
}

/** Parses the arguments of a start. Throws `StartError` for invalid ones. */
export function parseStart(argv: string[]): StartOptions {
  const { options, lists, words } = normalize(argv);
  if (words.length > 0) throw new StartError(`unknown command '${words.join(' ')}'`);
  const parsed = parseArgs<typeof args>(options, args);
  if (parsed.host === '') throw new StartError("option '--host' needs a value");
  return {
    port: parsePort(parsed.port),
    host: parsed.host,
    allowedHosts: lists['allowed-host'].flatMap((text) => text.split(',').flatMap((host) => host.trim() || [])),
    logLevel: parseLevel(parsed['log-level']),
    debugEndpoints: parsed['debug-endpoints'],
    bypassAuth: parsed['dangerous-bypass-auth'],
    webTitle: parsed['web-title'],
    open: parsed.open,
    allowRemoteShutdown: parsed['allow-remote-shutdown'],
    allowRemoteTerminals: parsed['allow-remote-terminals'],
    remoteControl: parsed['remote-control'],
    basePath: parseBasePath(parsed['base-path']),
    trustedProxies: lists['trust-proxy'].length > 0 ? parseTrustedProxies(lists['trust-proxy']) : undefined,
    https: parseHttps(parsed),
    qr: parsed.qr,
    demo: parsed.demo,
  };
}
