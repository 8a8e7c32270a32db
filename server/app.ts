/** The composition root: builds every service once, in dependency order. The only file that knows them all. */
import { join } from 'node:path';
import { createAgentProgram } from '#server/agent/program.ts';
import { createBan } from '#server/auth/ban.ts';
import { createCredentials } from '#server/auth/credentials.ts';
import { createGuard } from '#server/auth/guard.ts';
import type { Guard } from '#server/auth/guard.ts';
import { createHostCheck, isLoopbackBind } from '#server/auth/hosts.ts';
import { openToken } from '#server/auth/token.ts';
import { createConfig, type Config } from '#server/config/config.ts';
import { createGlobalStream } from '#server/events/global-stream.ts';
import { createEngineLog } from '#server/logging/engine-log.ts';
import { createEventHub } from '#server/events/hub.ts';
import type { Connections } from '#server/events/peer.ts';
import { openHome } from '#server/home/home.ts';
import { listInstances, registerInstance } from '#server/home/instances.ts';
import { features } from './features/features.ts';
import { createMeta } from './meta.ts';
import { newUlid } from './ids.ts';
import type { Logger } from '#server/logging/log.ts';
import type { Meta } from '#schema/meta.ts';
import { createIdentity } from '#server/models/providers/identity.ts';
import { createProviders, type Providers } from '#server/models/providers/providers.ts';
import { INTERACTION_LIFETIME_MS } from './interactions/interactions.ts';
import { createModelChecks } from '#server/models/model-checks.ts';
import { createModelClient } from '#server/models/stream.ts';
import { INSTRUCTIONS_MAX_AGE_MS } from '#server/agent/prompt/instructions.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { readSessionFolder } from '#server/sessions/session-folder.ts';
import { indexSchema } from '#server/sessions/session-header.ts';
import { createSessionIndex } from '#server/sessions/session-index.ts';
import { createSessions, type Sessions } from '#server/sessions/sessions.ts';
import { createDocuments } from '#server/storage/documents.ts';
import { createIndexDb } from '#server/storage/index-db.ts';
import { BASH_KILL_GRACE_MS, findShell } from '#server/tools/bash.ts';
import { builtinTools } from '#server/tools/registry.ts';
import { createWorkspaces, type Workspaces } from '#server/workspaces/workspaces.ts';
import { SERVER_VERSION } from './version.ts';

/** Startup options (part 1) after parsing. */
export interface AppOptions {
  /** Home directory, absolute. */
  home: string;
  host: string;
  /** Requested port; 0 takes any free one. */
  port: number;
  /** The server log of `--log-level`. */
  log: Logger;
  allowedHosts: string[];
  debugEndpoints: boolean;
  bypassAuth: boolean;
  webTitle: string | undefined;
  allowRemoteShutdown: boolean;
  allowRemoteTerminals: boolean;
  /** Starts the scripted demo model and makes it the default. */
  demo: boolean;
  /** How long an approval or a question waits for its answer, in ms; tests shorten it. */
  interactionLifetimeMs: number;
  /** How long the AGENTS.md files of a directory are not looked at again, in ms; tests shorten it. */
  instructionsMaxAgeMs: number;
  /** Read at every use, so that a changed variable counts. */
  env: () => NodeJS.ProcessEnv;
}

/** What an endpoint's `mounted` decides by (core.md §3.2, §1.6). */
export interface BindFacts {
  loopback: boolean;
  debugEndpoints: boolean;
  allowRemoteShutdown: boolean;
  allowRemoteTerminals: boolean;
}

export interface App {
  readonly serverId: string;
  readonly options: AppOptions;
  readonly bind: BindFacts;
  /** The server log and the engine's log files. */
  readonly log: Logger;
  /** The server log alone, for what is too much for the files. */
  readonly accessLog: Logger;
  readonly guard: Guard;
  readonly connections: Connections;
  readonly config: Config;
  readonly providers: Providers;
  readonly workspaces: Workspaces;
  readonly sessions: Sessions;
  meta(): Meta;
  /** The home's token, for URLs shown to the user; undefined with `--dangerous-bypass-auth`. */
  token(): Promise<string | undefined>;
  /** To be called once the port is bound. */
  listening(port: number): Promise<void>;
  /** Asks whoever runs the server to stop it; `stopRequested` resolves. */
  requestStop(): void;
  readonly stopRequested: Promise<void>;
  /** Releases everything, last built first. */
  close(): Promise<void>;
}

const DEFAULTS = {
  host: '127.0.0.1',
  port: 58627,
  allowedHosts: [],
  debugEndpoints: false,
  bypassAuth: false,
  webTitle: undefined,
  allowRemoteShutdown: false,
  allowRemoteTerminals: false,
  demo: false,
  interactionLifetimeMs: INTERACTION_LIFETIME_MS,
  instructionsMaxAgeMs: INSTRUCTIONS_MAX_AGE_MS,
  env: () => process.env,
} satisfies Partial<AppOptions>;

/** Options with the defaults of part 1 filled in. */
export function appOptions(given: Pick<AppOptions, 'home' | 'log'> & Partial<AppOptions>): AppOptions {
  return { ...DEFAULTS, ...given };
}

const listed = (text: string | undefined) => (text ?? '').split(',').flatMap((entry) => entry.trim() || []);

/** Opens the home and builds the services. Throws `StartError` for what the user can mend. */
export async function createApp(options: AppOptions): Promise<App> {
  const { home, host, port } = options;
  const env = options.env();
  const serverId = newUlid();
  const startedAt = Date.now();
  const sessionsDir = join(home, 'sessions');
  const bind: BindFacts = {
    loopback: isLoopbackBind(host),
    debugEndpoints: options.debugEndpoints,
    allowRemoteShutdown: options.allowRemoteShutdown,
    allowRemoteTerminals: options.allowRemoteTerminals,
  };

  await openHome(home);
  const token = await openToken(home);
  const credentials = createCredentials(token, env.SERVICE_CODE_PASSWORD);
  const hostCheck = createHostCheck({
    bindHost: host,
    allowedHosts: [...options.allowedHosts, ...listed(env.SERVICE_CODE_ALLOWED_HOSTS)],
  });
  const guard = createGuard({
    ban: bind.loopback ? undefined : createBan(),
    hostAllowed: env.SERVICE_CODE_DISABLE_HOST_CHECK === '1' ? () => true : hostCheck,
    listedOrigins: new Set(listed(env.SERVICE_CODE_CORS_ORIGINS)),
    credentials: options.bypassAuth ? undefined : credentials,
  });
  const { log, ...engineLog } = createEngineLog({
    home,
    env,
    output: options.log,
    sessionFolder(id) {
      try {
        const row = index.get(id);
        return row && join(sessionsDir, row.workspaceId, row.id);
      } catch {
        // No index, no folder; the home's file has the line.
        return undefined;
      }
    },
  });
  const instance = await registerInstance({ home, serverId, host, port, version: SERVER_VERSION, startedAt, log });

  const demo = options.demo ? await (await import('#server/models/demo/server.ts')).startDemoModel() : undefined;
  const config = await createConfig({ home, env: options.env, log, ...(demo ? { memory: demo.configLayer } : {}) });
  const identity = await createIdentity({ home, log });
  const providers = createProviders({ home, config, env: options.env });
  const client = createModelClient();

  const hub = createEventHub({ ...(options.bypassAuth ? {} : { auth: credentials }), log });
  const globalStream = await createGlobalStream({
    home,
    owns: async () => (await listInstances(home))[0]?.server_id === serverId,
    sink: hub,
    log,
  });
  config.onChanged((change) => globalStream.publish('event.config.changed', change));
  config.onWarnings((warnings) => globalStream.publish('event.config.warning', { warnings }));

  const { holder } = instance;
  const index = createSessionIndex({
    db: createIndexDb({ home, schema: indexSchema, log }),
    log,
    sessionsDir,
    read: (folder, known) => readSessionFolder(folder, known, holder),
  });
  const workspaces = createWorkspaces({
    documents: createDocuments({ home }),
    index,
    publish: globalStream.publish,
    log,
  });
  const runtime = createLocalRuntime({ env: options.env });
  const killGraceMs = () => config.effective().background.killGracePeriodMs ?? BASH_KILL_GRACE_MS;
  const tools = builtinTools({ bash: { killGraceMs } });
  const sessions: Sessions = createSessions({
    root: sessionsDir,
    index,
    workspaces,
    sink: hub,
    holder,
    features,
    program: createAgentProgram({
      runtime,
      instructionsMaxAgeMs: options.instructionsMaxAgeMs,
      now: () => Date.now(),
      home,
      shell: await findShell(runtime),
      config,
      env: options.env,
      identity,
      client,
      tools,
      log,
    }),
    subscribers: hub.subscriberCount,
    interactionLifetimeMs: options.interactionLifetimeMs,
    models: createModelChecks({ config, providers, env: options.env, identity }),
    announceArchived: (sessionId, workspace_id) =>
      globalStream.publish('event.session.archived', { workspace_id }, { sessionId }),
    version: SERVER_VERSION,
    log,
    now: () => Date.now(),
  });
  hub.attach({ sessions: sessions.streams, globalStream, aborter: sessions });

  const meta = createMeta({
    serverId,
    startedAt,
    bypassAuth: options.bypassAuth,
    webTitle: options.webTitle,
    flags: config.resolveFlags,
  });

  let requestStop = () => {};
  const stopRequested = new Promise<void>((resolve) => (requestStop = resolve));

  return {
    serverId,
    options,
    bind,
    log,
    accessLog: options.log,
    guard,
    connections: hub,
    config,
    providers,
    workspaces,
    sessions,
    meta,
    token: async () => (options.bypassAuth ? undefined : token.current()),
    async listening(boundPort) {
      await instance.bound(boundPort);
      // In the background: the first answer does not wait for the index.
      sessions.startRecovery();
    },
    requestStop,
    stopRequested,
    async close() {
      const parts = [sessions, hub, workspaces, index, globalStream, config, client, demo, instance];
      for (const part of parts) {
        try {
          await part?.close();
        } catch (error) {
          // One that fails must not keep the others open.
          log.error('a part of the server could not be closed', { err: error });
        }
      }
      await engineLog.close();
    },
  };
}
