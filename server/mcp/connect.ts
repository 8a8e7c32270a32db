/** One connection to an MCP server, from its start to its list of tools. */
import { pathToFileURL } from 'node:url';
import type { AuthProvider, CallToolResult, Client, Progress, Transport } from '@modelcontextprotocol/client';
import * as z from 'zod';
import { cutText } from '#server/text/truncate.ts';
import { clipJson } from '#server/text/json.ts';
import type { Fetch } from '#server/net/http-client.ts';
import type { Network } from '#server/net/network.ts';
import { createServerClient } from '#server/net/pinned-client.ts';
import { waitAtMost } from '#server/async/wait-at-most.ts';
import { childEnvironment } from '#server/processes/child-environment.ts';
import type { Spawn } from '#server/processes/spawn.ts';

import { SERVER_VERSION } from '#server/version.ts';
import type { McpRemoteConfig, McpServerConfig } from '#schema/config/mcp-server.ts';
import { abortable } from '#server/async/abortable.ts';
import { boundedTransport } from './bounded-transport.ts';
import { childOf } from './child.ts';
import { failureKind, failureText } from './failures.ts';
import { serverLine, withoutSecrets } from './server-text.ts';
import { createRemoteTransport } from './remote-transport.ts';
import { createStdioTransport } from './stdio-transport.ts';

/** The only runtime. */
const LOCAL_RUNTIME = 'local';

/** Upper limits of a server's list of tools. */
const MAX_PAGES = 64;
const MAX_TOOLS = 2000;
const MAX_DESCRIPTION_CHARS = 65_536;

const PING_MS = 5000;

export interface ConnectOptions {
  /** Absolute; the working directory of stdio servers. */
  root: string;
  /** The environment of this server. */
  env: NodeJS.ProcessEnv;
  spawn: Spawn;
  fetch: Fetch;
  /** Resolves the name of a remote server. */
  network: Pick<Network, 'resolve'>;
  /** The client name that MCP servers receive. */
  clientName: string;
  /** One time-out for start, handshake and list of tools together. */
  timeoutMs: number;
  /** The stored grant of a remote server without a bearer variable. */
  authProvider?: AuthProvider | undefined;
  /** Directories that the server receives when it requests the roots. */
  roots(): Promise<readonly string[]>;
  signal?: AbortSignal;
  /** Values that errors must not quote, in addition to those of `env` and `headers`. */
  hidden?: readonly string[];
}

/** A tool as its server lists it; the schema is not checked yet. */
export interface ListedTool {
  name: string;
  description: string;
  inputSchema?: unknown;
}

export interface ToolCallOptions {
  timeoutMs: number;
  signal?: AbortSignal;
  onProgress?(progress: Progress): void;
}

/** The reason of a lost connection, in contrast to one that was closed here. */
export interface Lost {
  error: string;
  needsAuth: boolean;
}

export interface McpConnection {
  /** The list from the time of the connection. */
  readonly tools: readonly ListedTool[];
  /** Rejects with errors that `failureKind` distinguishes, and with the signal's reason. */
  callTool(name: string, args: Record<string, unknown>, options: ToolCallOptions): Promise<CallToolResult>;
  /** Describes a failed call in one line for people, without the secrets of the configuration. */
  describe(error: unknown): string;
  /** Whether the server answers a ping within five seconds. */
  alive(): Promise<boolean>;
  /** Resolves when the connection is over without a call of `close`. */
  readonly lost: Promise<Lost>;
  /** Closes the connection and stops the program with its process group. Never rejects. */
  close(): Promise<void>;
}

/** A failed connection attempt, with a reason for people. */
export class McpConnectError extends Error {
  override readonly name = 'McpConnectError';
  /** Whether the server requires a sign-in. */
  readonly needsAuth: boolean;
  constructor(message: string, { needsAuth = false, cause }: { needsAuth?: boolean; cause?: unknown } = {}) {
    super(message, { cause });
    this.needsAuth = needsAuth;
  }
}

const toolPage = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });
const listedTool = z.object({
  name: z.string().min(1),
  description: z.string().default(''),
  inputSchema: z.unknown().optional(),
});

type Library = typeof import('@modelcontextprotocol/client');

/**
 * Connects to a server and reads its tools, all within `timeoutMs`; a failure leaves nothing running. Placeholders of
 * the config are already expanded. Rejects with `McpConnectError`, or with the reason of the signal.
 */
export async function connectServer(config: McpServerConfig, options: ConnectOptions): Promise<McpConnection> {
  options.signal?.throwIfAborted();
  const library = await import('@modelcontextprotocol/client');
  let breakOff: (error: unknown) => void = () => undefined;
  const broken = new Promise<{ error: unknown }>((resolve) => (breakOff = (error) => resolve({ error })));
  const { transport, secrets, errorOutput, failure, end } = transportOf(library, config, options, (error) =>
    breakOff(error),
  );
  // The standard error of the program follows the reason of the failure.
  const withErrorOutput = (error: unknown) => {
    const line = serverLine(failure() ?? failureText(error), secrets);
    return [line, withoutSecrets(errorOutput(), secrets)].filter(Boolean).join('\n');
  };

  const bounded = boundedTransport(transport, {
    countErrors: config.transport !== 'stdio',
    onExceeded: (reason) => breakOff(reason),
  });
  const client = clientOf(library, options);
  let opened = false;
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= end(client));
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
  client.onclose = () => {
    // A failed attempt is reported with its own error, which is more precise.
    if (opened && !closing) breakOff(new Error('the connection was closed'));
  };
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
  client.onerror = (error) => {
    // A stream of events that breaks loses its session with it; a stdio program is reported by its exit.
    if (config.transport === 'sse' || (config.transport === 'http' && failureKind(error) === 'unauthorized')) {
      breakOff(error);
    }
  };

  const deadline = AbortSignal.timeout(options.timeoutMs);
  const signal = options.signal ? AbortSignal.any([options.signal, deadline]) : deadline;
  try {
    const request = { signal, timeout: options.timeoutMs };
    const opening = client.connect(bounded, request).then(() => listTools(client, request));
    const failing = broken.then(({ error }) => Promise.reject(error));
    const tools = await abortable(Promise.race([opening, failing]), signal);
    opened = true;
    return {
      tools,
      close,
      lost: broken.then(({ error }) => ({ error: withErrorOutput(error), needsAuth: needsAuth(config, error) })),
      callTool: (name, args, { timeoutMs, signal: abort, onProgress }) =>
        client.callTool(
          { name, arguments: args },
          {
            timeout: timeoutMs,
            ...(abort ? { signal: abort } : {}),
            ...(onProgress ? { onprogress: onProgress } : {}),
          },
        ),
      describe: (error) => serverLine(failureText(error), secrets),
      alive: () =>
        client.ping({ timeout: PING_MS }).then(
          () => true,
          () => false,
        ),
    };
  } catch (error) {
    const reason = deadline.aborted ? new Error(`the server did not answer within ${options.timeoutMs} ms`) : error;
    const message = withErrorOutput(reason);
    await close();
    options.signal?.throwIfAborted();
    throw new McpConnectError(message, { needsAuth: needsAuth(config, error), cause: error });
  }
}

interface OpenTransport {
  transport: Transport;
  /** Values that the server received and may echo. */
  secrets: readonly string[];
  errorOutput(): string;
  failure(): string | undefined;
  end(client: Client): Promise<void>;
}

function transportOf(
  library: Library,
  config: McpServerConfig,
  options: ConnectOptions,
  onLost: (error: unknown) => void,
): OpenTransport {
  const { hidden = [] } = options;
  if (config.transport === 'stdio') {
    const { runtime_id: runtime = LOCAL_RUNTIME } = config;
    if (runtime !== LOCAL_RUNTIME) throw new McpConnectError(`runtime ${runtime} does not exist`);
    const transport = createStdioTransport({
      ...childOf(config, options.root, options.env),
      spawn: options.spawn,
      parse: (line) => library.deserializeMessage(clipJson(line)),
    });
    const { errorOutput, failure } = transport;
    const secrets = [...Object.values(config.env ?? {}), ...hidden];
    return { transport, secrets, errorOutput, failure, end: () => transport.close() };
  }
  const headers = headersOf(config, options.env);
  const url = remoteUrl(config.url);
  const remote = createServerClient(url, options.fetch, options.network);
  const transport = createRemoteTransport(library, {
    transport: config.transport,
    url,
    headers,
    authProvider: config.bearerTokenEnvVar === undefined ? options.authProvider : undefined,
    fetch: remote.fetch,
    onLost,
  });
  return {
    transport,
    secrets: [...Object.values(headers), ...hidden],
    errorOutput: () => '',
    failure: () => undefined,
    async end(client) {
      if (transport instanceof library.StreamableHTTPClientTransport)
        await waitAtMost(FAREWELL_MS, transport.terminateSession());
      await client.close().catch(() => undefined);
      await remote.close();
    },
  };
}

function remoteUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new McpConnectError('the URL of the server is not one of http or https');
  }
  url.hash = '';
  return url;
}

/** The bearer variable is read from the children's environment: a server must not receive the other variables. */
function headersOf({ headers = {}, bearerTokenEnvVar }: McpRemoteConfig, env: NodeJS.ProcessEnv) {
  if (bearerTokenEnvVar === undefined) return headers;
  const token = childEnvironment(env)[bearerTokenEnvVar];
  if (!token) throw new McpConnectError(`environment variable ${bearerTokenEnvVar} is not set`);
  const others = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'authorization');
  return { ...Object.fromEntries(others), authorization: `Bearer ${token}` };
}

/** Time-out of the request that ends the session, since the server may not answer any more. */
const FAREWELL_MS = 1000;

function clientOf({ Client }: Library, { clientName, roots }: ConnectOptions): Client {
  const client = new Client(
    { name: clientName, version: SERVER_VERSION },
    {
      capabilities: { roots: {} },
      // In later revisions the library leaves requests of the server unanswered, which would stay in progress.
      versionNegotiation: { mode: 'legacy' },
      // Schemas of results are foreign too; compiling them could block the event loop.
      jsonSchemaValidator: {
        getValidator: () => () => ({ valid: false, data: undefined, errorMessage: 'not checked' }),
      },
    },
  );
  client.setRequestHandler('roots/list', async () => ({
    roots: (await roots()).map((path) => ({ uri: pathToFileURL(path).href })),
  }));
  return client;
}

/** Reads the list page by page and parses each tool separately, so that a malformed one does not hide the others. */
async function listTools(client: Client, request: { signal: AbortSignal; timeout: number }): Promise<ListedTool[]> {
  if (!client.getServerCapabilities()?.tools) return [];
  const found: ListedTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const { tools, nextCursor } = await client.request({ method: 'tools/list', params }, toolPage, request);
    for (const tool of tools) {
      const parsed = listedTool.safeParse(tool);
      if (!parsed.success) continue;
      const { description, ...rest } = parsed.data;
      found.push({ ...rest, description: cutText(description, MAX_DESCRIPTION_CHARS) });
    }
    if (found.length > MAX_TOOLS) throw new Error(`the server lists more than ${MAX_TOOLS} tools`);
    if (nextCursor === undefined || nextCursor === cursor) return found;
    cursor = nextCursor;
  }
  throw new Error(`the list of tools has more than ${MAX_PAGES} pages`);
}

/** Whether a sign-in can help: the server refused a request that carried no configured credential. */
function needsAuth(config: McpServerConfig, error: unknown): boolean {
  if (config.transport === 'stdio' || config.bearerTokenEnvVar !== undefined) return false;
  const fixed = config.auth !== 'oauth' && Object.keys(config.headers ?? {}).length > 0;
  return !fixed && failureKind(error) === 'unauthorized';
}
