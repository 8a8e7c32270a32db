/**
 * Services of the agents. Imported with the first session, because no code before it needs tools, prompts or
 * permissions.
 */
import type { Account } from '#server/account/account.ts';
import { withManagedServices } from '#server/account/managed-services.ts';
import type { AppOptions } from './options.ts';
import type { FeatureServices } from '#server/agent/contract/feature.ts';
import { createAgentServices, type AgentServicesDeps } from '#server/agent/services.ts';
import { createDisposers } from './disposers.ts';
import { createHooks, type HookEntry } from '#server/hooks/hooks.ts';
import type { Config } from '#server/config/config.ts';
import type { McpAuth } from '#server/mcp/auth/mcp-auth.ts';
import type { McpConfig } from '#server/mcp/config/mcp-config.ts';
import { createPluginCommands } from '#server/plugins/commands.ts';
import { createContributions, type Contributions } from '#server/plugins/contributions.ts';
import type { Plugins } from '#server/plugins/plugins.ts';
import { createImages } from '#server/images/images.ts';
import { createMcp } from '#server/mcp/mcp.ts';
import { findModel, resolveModel } from '#server/models/resolve.ts';
import { createVideoUploads } from '#server/models/video-uploads.ts';
import { createModelClient } from '#server/models/stream.ts';
import type { Fetch } from '#server/net/http-client.ts';
import { spawnGroup } from '#server/processes/spawn.ts';
import type { Documents } from '#server/storage/documents.ts';
import { findShell } from '#server/builtin-tools/bash.ts';
import { builtinTools } from '#server/builtin-tools/builtin-tools.ts';
import { createWeb } from '#server/web/web.ts';
import type { AgentServices } from '#server/agent/contract/services.ts';

export interface SessionServicesDeps extends Pick<
  AgentServicesDeps,
  | 'runtime'
  | 'clock'
  | 'home'
  | 'config'
  | 'defaults'
  | 'env'
  | 'identity'
  | 'additionalDirs'
  | 'ignoredDirs'
  | 'projects'
  | 'trusted'
  | 'log'
> {
  options: Pick<AppOptions, 'instructionsMaxAgeMs' | 'network'>;
  account: Account;
  documents: Documents;
  mcpConfig: McpConfig;
  mcpAuth: McpAuth;
  plugins: Plugins;
  /** The client name in the MCP handshake. */
  clientName(): string;
  fetch: Fetch;
}

export interface SessionServices {
  readonly services: AgentServices;
  readonly featureServices: FeatureServices;
  /** Imports the modules that the first request to the default model would import otherwise. */
  loadModelClient(): Promise<void>;
  /** Closes the connections to models and MCP servers; to be called after the sessions are closed. */
  close(): Promise<void>;
}

/** Creates the services. */
export async function createSessionServices(deps: SessionServicesDeps): Promise<SessionServices> {
  const { options, config, identity, documents, fetch, runtime, additionalDirs, env, clock, log } = deps;
  const { plugins } = deps;
  const [shell] = await Promise.all([findShell(runtime), plugins.ready()]);
  const opened = createDisposers();
  const client = opened.add(createModelClient({ logins: deps.account }));
  const images = createImages({ settings: () => config.effective().image });
  const videos = createVideoUploads({ client, documents });
  const mcp = opened.add(
    createMcp({
      configured: deps.mcpConfig,
      auth: deps.mcpAuth,
      settings: () => config.effective().mcp,
      clientName: deps.clientName,
      env,
      spawn: spawnGroup,
      fetch,
      network: options.network,
      images,
      additionalDirs,
      log,
    }),
  );
  const contributed = createContributions(plugins, deps.home);
  const commands = createPluginCommands({ plugins: plugins.enabled, files: runtime });
  const services = createAgentServices({
    runtime,
    instructionsMaxAgeMs: options.instructionsMaxAgeMs,
    clock,
    home: deps.home,
    shell,
    config,
    defaults: deps.defaults,
    env,
    identity,
    client,
    images,
    videos,
    contributed,
    commands,
    tools: builtinTools(),
    additionalDirs,
    ignoredDirs: deps.ignoredDirs,
    projects: deps.projects,
    trusted: deps.trusted,
    log,
  });
  const featureServices: FeatureServices = {
    cron: { log },
    hooks: createHooks({ entries: hookEntries(config, contributed), environment: env, spawn: spawnGroup, log }),
    mcp,
    media: { videos },
    plugins,
    web: createWeb({
      services: () =>
        withManagedServices(config.effective().services, { env: env(), providers: config.stored().providers }),
      fetch,
      logins: deps.account,
      identityHeaders: identity.headers,
      network: options.network,
      userAgent: () => identity.userAgent(config.effective().identity),
      clock,
      log,
    }),
  };
  return {
    services,
    featureServices,
    async loadModelClient() {
      const effective = config.effective();
      const { defaultModel: alias } = effective;
      if (alias === undefined || !findModel(effective, alias)) return;
      await client.load(resolveModel(alias, { config: effective, env: env(), identity }).protocol);
    },
    close: () => opened.close(log),
  };
}

/** The configured hooks and then those of plugins, joined once per change of either. */
function hookEntries(config: Pick<Config, 'effective'>, contributed: () => Contributions): () => readonly HookEntry[] {
  const none: readonly HookEntry[] = [];
  let last: { configured: readonly HookEntry[]; added: readonly HookEntry[]; all: readonly HookEntry[] } | undefined;
  return () => {
    const configured = config.effective().hooks ?? none;
    const added = contributed().hooks;
    if (last?.configured !== configured || last.added !== added) {
      last = { configured, added, all: [...configured, ...added] };
    }
    return last.all;
  };
}
