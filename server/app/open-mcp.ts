/** MCP: the servers that files configure and plugins contribute, sign-in to them, their management by clients. */
import { join } from 'node:path';
import type { Logger } from '#server/logging/log.ts';
import { createMcpAuth, type McpAuth } from '#server/mcp/auth/mcp-auth.ts';
import { createMcpConfig, type McpConfig } from '#server/mcp/config/mcp-config.ts';
import { createUserFileWriter } from '#server/mcp/config/user-file-writer.ts';
import { createMcpManagement, type McpManagement } from '#server/mcp/management/management.ts';
import { createProber } from '#server/mcp/management/probe.ts';
import type { Fetch } from '#server/net/http-client.ts';
import type { Plugins } from '#server/plugins/plugins.ts';
import { spawnGroup } from '#server/processes/spawn.ts';
import { createChangeLock } from '#server/storage/change-lock.ts';
import type { Disposers } from './disposers.ts';
import type { Home } from './open-home.ts';
import type { ProjectFolders } from './open-workspaces.ts';
import type { AppOptions } from './options.ts';
import { createPluginServers, followPlugins } from './plugin-servers.ts';

export interface Mcp {
  readonly mcpConfig: McpConfig;
  readonly mcpAuth: McpAuth;
  readonly mcpManagement: McpManagement;
}

export interface McpDeps {
  options: AppOptions;
  home: Home;
  folders: ProjectFolders;
  plugins: Plugins;
  fetch: Fetch;
  /** The client name in the MCP handshake. */
  clientName(): string;
  log: Logger;
}

/** Opens the configured servers; none is started. */
export function openMcp({ options, home, folders, plugins, fetch, clientName, log }: McpDeps, opened: Disposers): Mcp {
  const { clock, env, network } = options;
  const { documents, config, instance } = home;
  const { holder } = instance;
  const { trust, projects, workspaces } = folders;
  const path = join(options.home, 'mcp.json.lock');
  const mcpConfig = opened.add(
    createMcpConfig({
      home: options.home,
      projectRootOf: projects.rootOf,
      trusted: trust.trusted,
      trustFile: async (root) => join(options.home, ...(await trust.marker(root)).split(':')),
      isWorkspace: workspaces.isRoot,
      lock: createChangeLock({ path, holder, writer: createUserFileWriter(options.home) }),
      plugins: createPluginServers(plugins),
      env,
      log,
    }),
  );
  const mcpAuth = opened.add(
    createMcpAuth({ home: options.home, documents, holder, fetch, network, clientName, clock, log }),
  );
  followPlugins({ plugins, mcpConfig, mcpAuth, home: options.home, env, log });
  const startupMs = () => config.effective().mcp.startupTimeoutMs;
  const prober = opened.add(
    createProber({ auth: mcpAuth, env, spawn: spawnGroup, fetch, network, clientName, startupMs }),
  );
  const mcpManagement = createMcpManagement({ config: mcpConfig, auth: mcpAuth, prober, env, now: clock.now });
  return { mcpConfig, mcpAuth, mcpManagement };
}
