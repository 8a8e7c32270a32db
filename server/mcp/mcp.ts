/** MCP servers: one reference-counted set for each workspace. */
import type { EffectiveConfig } from '#server/config/effective.ts';
import type { Images } from '#server/images/images.ts';
import type { Logger } from '#server/logging/log.ts';
import type { Fetch } from '#server/net/http-client.ts';
import type { Network } from '#server/net/network.ts';
import type { Spawn } from '#server/processes/spawn.ts';
import type { RunContext } from '#server/tools/tool.ts';
import { credentialId } from './auth/credentials.ts';
import type { McpAuth } from './auth/mcp-auth.ts';
import { remoteAddress } from './config/expand.ts';
import { prepareLaunch } from './config/launch.ts';
import type { ServerDefinition } from './config/layers.ts';
import type { McpServerConfig } from '#schema/config/mcp-server.ts';
import type { McpConfig } from './config/mcp-config.ts';
import { connectServer, type McpConnection } from './connect.ts';
import { createSchemas } from './schemas.ts';
import { createMcpServer } from './server.ts';
import { createClientServers, type ClientServers } from './config/client-servers.ts';
import type { WorkspaceServers } from './config/workspace-servers.ts';
import { createWorkspaceMcp, type WorkspaceMcp } from './workspace-mcp.ts';

const STARTUP_TIMEOUT_MS = 30_000;
const TOOL_TIMEOUT_MS = 60_000;

export interface WorkspaceMcpReference {
  readonly workspace: WorkspaceMcp;
  /** Idempotent. The last `release` closes the connections and awaits the exit of their programs. */
  release(): Promise<void>;
}

/** The servers that a client has sent with one session. */
export interface SessionServers {
  readonly workspace: WorkspaceMcp;
  /** Connects the new servers and closes those that are not in the list; connections follow asynchronously. */
  replace: ClientServers['replace'];
  /** Closes the connections and awaits the exit of their programs. */
  close(): Promise<void>;
}

export interface Mcp {
  /** Returns the servers of the workspace with this directory, without starting them. */
  hold(root: string): WorkspaceMcpReference;
  /** Creates an empty set of servers for a session in this directory. */
  forSession(root: string): SessionServers;
  close(): Promise<void>;
}

export interface McpDeps {
  configured: McpConfig;
  auth: McpAuth;
  settings(): EffectiveConfig['mcp'];
  /** The client name that MCP servers receive. */
  clientName(): string;
  env(): NodeJS.ProcessEnv;
  spawn: Spawn;
  fetch: Fetch;
  network: Pick<Network, 'resolve'>;
  images: Pick<Images, 'fit'>;
  /** Additional directories of a workspace. */
  additionalDirs(root: string): Promise<readonly string[]>;
  log: Logger;
}

/** The texts of a client's entry, which are in no error: errors are recorded, and the entry is not. */
const wordsOf = (config: McpServerConfig): string[] =>
  config.transport === 'stdio' ? [config.command, ...(config.args ?? []), config.cwd ?? ''] : [config.url];

/** Reads, loads and starts nothing until the first `hold`. */
export function createMcp(deps: McpDeps): Mcp {
  const { auth, env, settings, log } = deps;
  const schemas = createSchemas();
  const held = new Map<string, { workspace: WorkspaceMcp; holders: number }>();
  const ofSessions = new Set<WorkspaceMcp>();

  /** Undefined for a server without sign-in. Throws for a placeholder without a value. */
  function targetOf(server: ServerDefinition) {
    const { config } = server;
    if (config.transport === 'stdio' || config.bearerTokenEnvVar !== undefined) return undefined;
    return remoteAddress(server, env());
  }

  /**
   * Connects with the server's time-outs and stored grant. Throws `McpConnectError`, also for a missing placeholder.
   */
  async function connect(server: ServerDefinition, root: string, signal: AbortSignal): Promise<McpConnection> {
    const { config, env: variables } = await prepareLaunch(server, env());
    return connectServer(config, {
      root,
      env: variables,
      spawn: deps.spawn,
      fetch: deps.fetch,
      network: deps.network,
      clientName: deps.clientName(),
      timeoutMs: config.startupTimeoutMs ?? settings().startupTimeoutMs ?? STARTUP_TIMEOUT_MS,
      ...(config.transport === 'stdio' ? {} : { authProvider: auth.authProviderFor(server.name, config.url) }),
      signal,
      ...(server.literal && { hidden: wordsOf(config) }),
      roots: async () => [root, ...(await deps.additionalDirs(root))],
    });
  }

  auth.onChanged(({ id, kind }) => {
    for (const workspace of [...Array.from(held.values(), (entry) => entry.workspace), ...ofSessions]) {
      workspace.reconnect(({ definition, state }) => {
        const { status } = state();
        const concerned = kind === 'saved' ? status === 'needs-auth' || status === 'failed' : status === 'connected';
        return concerned && idOf(definition) === id;
      });
    }
  });

  function idOf(server: ServerDefinition): string | undefined {
    try {
      const target = targetOf(server);
      return target && credentialId(target.name, target.url);
    } catch {
      // A placeholder without a value: such a server has no grant either.
      return undefined;
    }
  }

  function open(root: string, configured: WorkspaceServers): WorkspaceMcp {
    return createWorkspaceMcp({
      configured,
      createServer: (definition, changed) =>
        createMcpServer(definition, {
          schemas,
          images: deps.images,
          connect: (server, signal) => connect(server, root, signal),
          toolTimeoutMs: ({ toolTimeoutMs }) => toolTimeoutMs ?? settings().toolTimeoutMs ?? TOOL_TIMEOUT_MS,
          signIn,
          scopeMissing,
          changed,
          log,
        }),
      log,
    });
  }

  async function scopeMissing(server: ServerDefinition, scope: string): Promise<void> {
    const target = targetOf(server);
    if (target) await auth.scopeMissing(target, scope);
  }

  async function signIn(server: ServerDefinition, { signal, progress }: RunContext): Promise<void> {
    const { name } = server;
    const target = targetOf(server);
    if (!target) return;
    await auth.authenticate(target, {
      signal,
      onSignIn({ authorizationUrl, expiresAt }) {
        progress({
          kind: 'custom',
          customKind: 'mcp.oauth.authorization_url',
          customData: { serverName: name, authorizationUrl, expiresAt },
        });
        progress({ kind: 'status', text: `Open ${authorizationUrl} to sign in to ${name}.` });
      },
    });
  }

  return {
    hold(root) {
      const entry = held.get(root) ?? { workspace: open(root, deps.configured.workspace(root)), holders: 0 };
      held.set(root, entry);
      entry.holders += 1;
      let holding = true;
      return {
        workspace: entry.workspace,
        async release() {
          if (!holding) return;
          holding = false;
          entry.holders -= 1;
          if (entry.holders > 0) return;
          held.delete(root);
          await entry.workspace.close();
        },
      };
    },
    forSession(root) {
      const servers = createClientServers();
      const workspace = open(root, servers);
      ofSessions.add(workspace);
      return {
        workspace,
        replace: servers.replace,
        async close() {
          ofSessions.delete(workspace);
          await workspace.close();
        },
      };
    },
    async close() {
      await Promise.all(
        [...Array.from(held.values(), ({ workspace }) => workspace), ...ofSessions].map((each) => each.close()),
      );
      held.clear();
      ofSessions.clear();
      await schemas.close();
    },
  };
}
