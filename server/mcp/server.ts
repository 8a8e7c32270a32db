/** One server of a workspace: its connection, state and tools. */
import { isDeepStrictEqual } from 'node:util';
import type { Images } from '#server/images/images.ts';
import type { Logger } from '#server/logging/log.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import type { RunContext, Tool, ToolResult } from '#server/tools/tool.ts';
import type { McpServerConfig } from '#schema/config/mcp-server.ts';
import type { ServerDefinition } from './config/layers.ts';
import { callThrough } from './calls.ts';
import { McpConnectError, type McpConnection } from './connect.ts';
import { discover, type Discovery } from './discovery.ts';
import { missingScope, requiresSignIn } from './failures.ts';
import type { Schemas } from './schemas.ts';
import { withSmallImages } from './small-images.ts';
import { signInTool, toolsOf } from './server-tools.ts';

export type McpStatus = 'pending' | 'connected' | 'failed' | 'needs-auth' | 'disabled' | 'removed';

/** The state as clients receive it. */
export interface McpServerState {
  name: string;
  transport: McpServerConfig['transport'];
  status: McpStatus;
  /** 0 unless connected. */
  toolCount: number;
  error?: string;
}

export type McpServerChange =
  { kind: 'status'; state: McpServerState } | { kind: 'tools'; reason: 'mcp.connected' | 'mcp.disconnected' };

export interface McpServerDeps {
  schemas: Schemas;
  images: Pick<Images, 'fit'>;
  /** Opens a connection. */
  connect(server: ServerDefinition, signal: AbortSignal): Promise<McpConnection>;
  toolTimeoutMs(config: McpServerConfig): number;
  /** Prompts the user to sign in; resolves when there is a grant. */
  signIn(server: ServerDefinition, context: RunContext): Promise<void>;
  /** Records the scopes whose lack made the server refuse a call. */
  scopeMissing(server: ServerDefinition, scope: string): Promise<void>;
  changed(change: McpServerChange): void;
  log: Logger;
}

export interface McpServer {
  readonly name: string;
  readonly definition: ServerDefinition;
  state(): McpServerState;
  /** The tools of the last connection; they stay registered while disconnected. */
  readonly tools: readonly Tool[];
  /** The list that the tools derive from; undefined before the first connection, and while a sign-in is needed. */
  readonly discovery: Discovery | undefined;
  /** Opens the connection if there is none; coalesces with a running attempt. Never rejects. */
  connect(): Promise<void>;
  /** Resolves when no attempt is running. Never rejects. */
  settled(): Promise<void>;
  /** Always opens a new connection; the newest attempt replaces earlier ones. Never rejects. */
  restart(): Promise<void>;
  /** Applies a changed definition: reconnects, or disconnects if it is disabled. */
  configure(definition: ServerDefinition): void;
  /** Marks the server as removed from the configuration. Its tools stay registered and report that. */
  remove(): void;
  close(): Promise<unknown>;
}

export function createMcpServer(first: ServerDefinition, deps: McpServerDeps): McpServer {
  const { schemas, log } = deps;
  const { name } = first;
  let definition = first;
  let { config } = first;
  let status: McpStatus = config.enabled === false ? 'disabled' : 'pending';
  let error: string | undefined;
  let connection: McpConnection | undefined;
  let discovery: Discovery | undefined;
  let tools: readonly Tool[] = [];
  /** Fencing: the number of the current attempt; results of earlier ones are discarded. */
  let generation = 0;
  let connecting: Promise<void> | undefined;
  let attempting = new AbortController();
  /** Settles when all earlier connections and attempts are closed. */
  let ended: Promise<unknown> = Promise.resolve();

  function state(): McpServerState {
    const toolCount = status === 'connected' ? tools.length : 0;
    return { name, transport: config.transport, status, toolCount, ...(error ? { error } : {}) };
  }

  function enter(next: McpStatus, why?: string): void {
    status = next;
    error = why;
    deps.changed({ kind: 'status', state: state() });
  }

  function register(next: readonly Tool[], reason: 'mcp.connected' | 'mcp.disconnected'): void {
    tools = next;
    deps.changed({ kind: 'tools', reason });
  }

  /** Discards the connection and a running attempt; resolves when both are closed. */
  function drop(): Promise<unknown> {
    generation += 1;
    attempting.abort(new Error('the attempt was given up'));
    ended = Promise.all([ended, connecting, connection?.close()]);
    connecting = undefined;
    connection = undefined;
    return ended;
  }

  function fail(needsAuth: boolean, why: string): void {
    log.warn('an MCP server is not connected', { server: name, needsAuth });
    if (!needsAuth) {
      enter('failed', why);
      return;
    }
    enter('needs-auth', requiresSignIn(name));
    discovery = undefined;
    register([signInTool(name, signIn)], 'mcp.connected');
  }

  function attempt(): Promise<void> {
    const before = drop();
    const mine = generation;
    attempting = new AbortController();
    const { signal } = attempting;
    enter('pending');
    const running = before.then(() => open(mine, signal));
    connecting = running;
    return running;
  }

  async function open(mine: number, signal: AbortSignal): Promise<void> {
    let opened: McpConnection | undefined;
    try {
      opened = await deps.connect(definition, signal);
      const found = await discover(name, opened.tools, config, schemas);
      if (mine !== generation) {
        await opened.close();
        return;
      }
      connecting = undefined;
      use(opened, found);
    } catch (failure) {
      await opened?.close();
      if (mine !== generation) return;
      connecting = undefined;
      fail(failure instanceof McpConnectError && failure.needsAuth, errorMessage(failure));
    }
  }

  function use(opened: McpConnection, found: Discovery): void {
    connection = opened;
    void opened.lost.then(({ error: why, needsAuth }) => {
      if (connection !== opened) return;
      void drop();
      fail(needsAuth, why);
    });
    const next = discovery?.hash === found.hash ? tools : toolsOf(found, schemas, call);
    discovery = found;
    tools = next;
    enter('connected');
    register(next, 'mcp.connected');
  }

  async function connect(): Promise<void> {
    if (status === 'disabled' || status === 'removed' || connection) return;
    if (!connecting) void attempt();
    await settled();
  }

  async function settled(): Promise<void> {
    // A newer attempt may have replaced the awaited one.
    const running = connecting;
    if (!running) return;
    await running;
    await settled();
  }

  async function signIn(context: RunContext): Promise<ToolResult> {
    if (status === 'removed') return { output: removedText(name), isError: true };
    if (status !== 'connected') {
      await deps.signIn(definition, context);
      await connect();
    }
    if (status === 'connected') return { output: `Signed in to ${name}. Its tools are available now.` };
    return { output: `The sign-in to ${name} is done, but it is not connected: ${error ?? status}`, isError: true };
  }

  /** The result of calls while the server is switched off. */
  function refusal(): ToolResult | undefined {
    if (status === 'removed') return { output: removedText(name), isError: true };
    if (status === 'disabled') return { output: `The MCP server "${name}" is disabled.`, isError: true };
    return undefined;
  }

  const call: Parameters<typeof toolsOf>[2] = async (tool, args, context) => {
    const result = await callThrough(tool, args, context, {
      name,
      refusal,
      timeoutMs: deps.toolTimeoutMs(config),
      connection: () => connection,
      async connect() {
        await connect();
        return connection ?? { problem: error ?? status };
      },
      lost(broken, why) {
        if (connection !== broken) return;
        void drop();
        fail(false, why);
      },
      async unauthorized(broken, failure) {
        const scope = missingScope(failure);
        if (scope !== undefined) await deps.scopeMissing(definition, scope);
        if (connection !== broken || config.transport === 'stdio' || config.bearerTokenEnvVar !== undefined) return;
        void drop();
        fail(true, errorMessage(failure));
      },
    });
    return withSmallImages(result, deps.images, context.sessionDir);
  };

  return {
    name,
    get definition() {
      return definition;
    },
    state,
    get tools() {
      return tools;
    },
    get discovery() {
      return discovery;
    },
    connect,
    settled,
    async restart() {
      await attempt();
      await settled();
    },
    configure(next) {
      if (status !== 'removed' && isDeepStrictEqual(next, definition)) return;
      definition = next;
      ({ config } = next);
      if (config.enabled !== false) {
        void attempt();
        return;
      }
      void drop();
      enter('disabled');
      discovery = undefined;
      register([], 'mcp.disconnected');
    },
    remove() {
      void drop();
      enter('removed');
    },
    close: drop,
  };
}

const removedText = (name: string) =>
  `The MCP server "${name}" was removed from the configuration. Do not call its tools again in this session.`;
