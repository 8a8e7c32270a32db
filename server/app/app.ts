/** The composition root: builds every service once, in dependency order. The only file that imports all of them. */
import { join } from 'node:path';
import { createAgentDefaults } from '#server/agent/binding/defaults.ts';
import { createBan } from '#server/auth/ban.ts';
import { createCredentials } from '#server/auth/credentials.ts';
import { createGuard } from '#server/auth/guard.ts';
import type { Guard } from '#server/auth/guard.ts';
import { createHostCheck, isLoopbackBind } from '#server/auth/hosts.ts';
import { createPolicies, type Policies } from '#server/auth/policies.ts';
import { createRevocation } from '#server/auth/revocation.ts';
import { openToken } from '#server/auth/token.ts';
import { createConfig, type Config } from '#server/config/config.ts';
import { createConfigWriter, type ConfigWriter } from '#server/config/config-writer.ts';
import { createEventBus } from '#server/events/bus.ts';
import { createGateway } from '#server/events/gateway.ts';
import { createGlobalStream, type GlobalStreamDeps } from '#server/events/global-stream.ts';
import { createGit, type Git } from '#server/git/git.ts';
import { createEngineLog } from '#server/logging/engine-log.ts';
import type { Connections } from '#server/events/peer.ts';
import { openHome } from '#server/home/home.ts';
import { listInstances, registerInstance } from '#server/home/instances.ts';
import type { UseSession } from '#server/agent/contract/feature.ts';
import type { SessionServices } from './agent-services.ts';
import type { AppOptions, BindOptions } from './options.ts';
import { createDisposers, type Disposers } from './disposers.ts';
import { createMeta } from './meta.ts';
import { newUlid } from '#server/ids.ts';
import { lazy } from '#server/async/lazy.ts';
import type { Logger } from '#server/logging/log.ts';
import type { Caller } from '#schema/rest/caller.ts';
import type { Meta } from '#schema/rest/meta.ts';
import { createIdentity } from '#server/models/providers/identity.ts';
import { createProviders, type Providers } from '#server/models/providers/providers.ts';
import { createMcpAuth, type McpAuth } from '#server/mcp/auth/mcp-auth.ts';
import { createMcpConfig, type McpConfig } from '#server/mcp/config/mcp-config.ts';
import { createUserFileWriter } from '#server/mcp/config/user-file-writer.ts';
import { createMcpManagement, type McpManagement } from '#server/mcp/management/management.ts';
import { createProber } from '#server/mcp/management/probe.ts';
import { createHttpClient } from '#server/net/http-client.ts';
import { createModelChecks, type ModelChecks } from '#server/models/model-checks.ts';
import { spawnGroup } from '#server/processes/spawn.ts';
import { createProjects, type Projects } from '#server/project-files/projects.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import type { Runtime } from '#server/runtime/runtime.ts';
import { readSessionFolder } from '#server/sessions/index/session-folder.ts';
import { sessionFrames } from '#server/sessions/requests/conversation-actions.ts';
import { indexSchema } from '#server/sessions/index/session-header.ts';
import { createSessionIndex } from '#server/sessions/index/session-index.ts';
import { quoted } from '#server/sessions/live/change-warning.ts';
import { createSessions, type Sessions } from '#server/sessions/sessions.ts';
import { createChangeLock, type ChangeLock } from '#server/storage/change-lock.ts';
import { createDocuments } from '#server/storage/documents.ts';
import { acquireLease, type LeaseHolder } from '#server/storage/lease.ts';
import { createIndexDb } from '#server/storage/index-db.ts';
import { removeOldIndexes } from '#server/storage/old-indexes.ts';
import { loadPty } from '#server/terminals/pty.ts';
import { terminalFrames } from '#server/terminals/terminal-frames.ts';
import { createTerminals, terminalsMounted, type Terminals } from '#server/terminals/terminals.ts';
import { transcriptFrames } from '#server/transcript/transcript-frames.ts';
import { createAdditionalDirs, type AdditionalDirs } from '#server/workspaces/additional-dirs.ts';
import { createTrust, type Trust } from '#server/workspaces/trust.ts';
import { createUploads, type Uploads } from '#server/uploads/uploads.ts';
import { createFileSearch, type FileSearch } from '#server/file-search/file-search.ts';
import { createTrees } from '#server/watches/trees.ts';
import { watchFrames } from '#server/watches/watch-frames.ts';
import { createWatches, windowMs } from '#server/watches/watches.ts';
import { createConfirmedDirs } from '#server/workspaces/confirmed-dirs.ts';
import { writeDirectories } from '#server/workspaces/local-config.ts';
import { createRegistryWriter } from '#server/workspaces/registry-document.ts';
import { createWorkspaces, type Workspaces } from '#server/workspaces/workspaces.ts';
import { SERVER_VERSION } from '#server/version.ts';

export interface App {
  readonly serverId: string;
  readonly options: AppOptions;
  readonly bind: BindOptions;
  /** The server log and the engine's log files. */
  readonly log: Logger;
  /** Only the server log, for lines that are too many for the log files. */
  readonly accessLog: Logger;
  readonly guard: Guard;
  readonly policies: Policies;
  readonly connections: Connections;
  readonly config: Config;
  readonly providers: Providers;
  readonly models: ModelChecks;
  readonly uploads: Uploads;
  readonly workspaces: Workspaces;
  readonly trust: Trust;
  readonly additionalDirs: AdditionalDirs;
  readonly mcpConfig: McpConfig;
  readonly mcpAuth: McpAuth;
  readonly mcpManagement: McpManagement;
  readonly sessions: Sessions;
  readonly terminals: Terminals;
  readonly git: Git;
  readonly fileSearch: FileSearch;
  readonly runtime: Runtime;
  readonly projects: Projects;
  /** Functions that import the modules of prompts and of reads of sessions before their first use. */
  readonly preload: readonly (() => Promise<unknown>)[];
  meta(): Meta;
  /** The home's token, for URLs shown to the user; undefined with `--dangerous-bypass-auth`. */
  token(): Promise<string | undefined>;
  /** To be called once the port is bound. */
  listening(port: number): Promise<void>;
  /** Requests a stop from the code that runs the server; `stopRequested` resolves. */
  requestStop(): void;
  readonly stopRequested: Promise<void>;
  /** Publishes a change of a workspace's trust or directories, and warns sessions whose commands run. */
  workspaceChanged(id: string, what: string, by: Caller): Promise<void>;
  /** Closes everything, last opened first; later calls do nothing. */
  close(): Promise<void>;
}

/** Domains of the configuration that decide which calls run without approval, and which commands run with them. */
const GUARDING_DOMAINS: ReadonlySet<string> = new Set(['permission', 'defaultPermissionMode', 'hooks']);

const listed = (text: string | undefined) => (text ?? '').split(',').flatMap((entry) => entry.trim() || []);

/**
 * Opens the home and creates the services. Throws `StartError` for faults that the user can fix; all resources are
 * closed then.
 */
export async function createApp(options: AppOptions): Promise<App> {
  const opened = createDisposers();
  try {
    return await buildApp(options, opened);
  } catch (error) {
    await opened.close(options.log);
    throw error;
  }
}

const openGlobalStream = (home: string, holder: LeaseHolder, { sink, log }: Pick<GlobalStreamDeps, 'sink' | 'log'>) =>
  createGlobalStream({
    home,
    sink,
    log,
    async claim(folder) {
      const taken = await acquireLease(join(folder, 'lock'), holder);
      return 'lease' in taken ? taken.lease : undefined;
    },
  });

async function buildApp(options: AppOptions, opened: Disposers): Promise<App> {
  const { home, host, port, clock } = options;
  const env = options.env();
  const serverId = newUlid();
  const startedAt = Date.now();
  const sessionsDir = join(home, 'sessions');
  const bind: BindOptions = {
    loopback: isLoopbackBind(host),
    debugEndpoints: options.debugEndpoints,
    allowRemoteShutdown: options.allowRemoteShutdown,
    allowRemoteTerminals: options.allowRemoteTerminals,
  };

  await openHome(home);
  const token = await openToken(home);
  const engineLog = opened.add(createEngineLog({ home, env, output: options.log }));
  const { log: homeLog } = engineLog;
  const version = SERVER_VERSION;
  const documents = opened.add(createDocuments({ home, drivers: options.documents }));
  const bus = createEventBus({ log: homeLog });
  const demo = options.demo ? await (await import('#server/models/demo/server.ts')).startDemoModel() : undefined;
  if (demo) opened.add(demo);

  const registered = registerInstance({ home, serverId, host, port, version, startedAt, log: homeLog });
  /**
   * Lock of the configuration. The file is read while the server is still being registered, which creates the lock's
   * lease holder.
   */
  const configLock: ChangeLock<ConfigWriter> = {
    async hold(work) {
      const { holder } = await registered;
      const path = join(home, 'config.toml.lock');
      return createChangeLock({ path, holder, writer: createConfigWriter(home) }).hold(work);
    },
  };
  // Concurrently, because each waits for the disk repeatedly.
  const opening = [
    registered.then(opened.add),
    registered.then(({ holder }) => openGlobalStream(home, holder, { sink: bus, log: homeLog })).then(opened.add),
    createConfig({
      home,
      env: options.env,
      log: homeLog,
      clock: options.clock,
      lock: configLock,
      ...(demo ? { memory: demo.configLayer } : {}),
    }).then(opened.add),
    createIdentity({ documents, log: homeLog }),
  ] as const;
  // If one fails, the resources that the others open must be closed, too.
  await Promise.allSettled(opening);
  const [instance, globalStream, config, identity] = await Promise.all(opening);
  const { holder } = instance;

  const credentials = createCredentials(token, env.SERVICE_CODE_PASSWORD);
  const hostCheck = createHostCheck({
    bindHost: host,
    allowedHosts: [...options.allowedHosts, ...listed(env.SERVICE_CODE_ALLOWED_HOSTS)],
  });
  const listedOrigins = new Set(listed(env.SERVICE_CODE_CORS_ORIGINS));
  const guard = createGuard({
    ban: bind.loopback ? undefined : createBan(),
    hostAllowed: env.SERVICE_CODE_DISABLE_HOST_CHECK === '1' ? () => true : hostCheck,
    listedOrigins,
    credentials: options.bypassAuth ? undefined : credentials,
  });
  const providers = createProviders({ documents, config, env: options.env });

  config.onChanged((change) => globalStream.publish('event.config.changed', change));
  config.onWarnings((warnings) => globalStream.publish('event.config.warning', { warnings }));

  const projections = options.features.flatMap((feature) => feature.projection ?? []);
  const index = createSessionIndex({
    db: createIndexDb({ home, schema: indexSchema, log: homeLog }),
    log: homeLog,
    sessionsDir,
    read: (folder, known) => readSessionFolder(folder, known, { holder, projections, log: homeLog }),
  });
  opened.add(index);
  const log = engineLog.withSessions((id) => {
    try {
      const row = index.get(id);
      return row && join(sessionsDir, row.workspaceId, row.id);
    } catch {
      // Without the index the folder is unknown; the line is still written to the home's log file.
      return undefined;
    }
  });
  const registryLock = join(home, 'workspaces.json.lock');
  const workspaces = opened.add(
    createWorkspaces({
      documents,
      lock: createChangeLock({ path: registryLock, holder, writer: createRegistryWriter(documents) }),
      index,
      publish: globalStream.publish,
      log,
      clock,
    }),
  );
  const uploads = opened.add(createUploads({ home, env: options.env, documents, clock, log }));
  const runtime = createLocalRuntime({ env: options.env });
  async function trustChanged(): Promise<void> {
    additionalDirs.refresh();
    await mcpConfig.reload();
  }
  const trust = createTrust({
    documents,
    changed: trustChanged,
    changedElsewhere(root, isTrusted, since) {
      const what = `${quoted(root)} is ${isTrusted ? 'trusted' : 'no longer trusted'}`;
      void sessions.warnOfChange({ what, by: undefined, since });
    },
    log,
    clock,
  });
  const { trusted } = trust;
  const projects = createProjects({ runtime, trusted });
  const { rootOf, topOf } = projects;
  const confirmed = createConfirmedDirs(documents);
  const additionalDirs = createAdditionalDirs({
    lock: createChangeLock({ path: registryLock, holder, writer: { confirm: confirmed.add, writeDirectories } }),
    runtime,
    rootOf,
    trusted,
    confirmed,
    addedElsewhere(root, directories, since) {
      const more = directories.length > 1 ? ` and ${directories.length - 1} more` : '';
      const what = `${directories.slice(0, 1).map(quoted).join('')}${more} was added to the directories of ${quoted(root)}`;
      void sessions.warnOfChange({ what, by: undefined, since });
    },
    log,
    clock,
  });
  const mcpConfig = opened.add(
    createMcpConfig({
      home,
      projectRootOf: rootOf,
      trusted,
      trustFile: async (root) => join(home, ...(await trust.marker(root)).split(':')),
      isWorkspace: workspaces.isRoot,
      lock: createChangeLock({ path: join(home, 'mcp.json.lock'), holder, writer: createUserFileWriter(home) }),
      log,
    }),
  );
  const { fetch } = opened.add(createHttpClient());
  const defaults = createAgentDefaults(config);
  const clientName = () => identity.slug(config.effective().identity);
  const mcpAuth = opened.add(
    createMcpAuth({ home, documents, holder, fetch, network: options.network, clientName, clock, log }),
  );
  const prober = opened.add(
    createProber({
      auth: mcpAuth,
      env: options.env,
      spawn: spawnGroup,
      fetch,
      network: options.network,
      clientName,
      startupMs: () => config.effective().mcp.startupTimeoutMs,
    }),
  );
  const mcpManagement = createMcpManagement({
    config: mcpConfig,
    auth: mcpAuth,
    prober,
    env: options.env,
    now: clock.now,
  });
  let loaded: SessionServices | undefined;
  const loadServices = lazy(async () => {
    const { createSessionServices } = await import('./agent-services.ts');
    loaded = await createSessionServices({
      options,
      runtime,
      projects,
      trusted,
      additionalDirs: additionalDirs.of,
      ignoredDirs: additionalDirs.ignored,
      mcpConfig,
      mcpAuth,
      clientName,
      fetch,
      clock,
      home,
      config,
      defaults,
      env: options.env,
      identity,
      documents,
      log,
    });
    return loaded;
  });
  opened.add({ close: () => loaded?.close() });
  const git = opened.add(createGit({ runtime, clock, timeoutMs: options.fileTimeouts.gitMs }));
  const trees = opened.add(createTrees({ windowMs: () => windowMs(options.env()), log }));
  const fileSearch = opened.add(createFileSearch({ trees, runtime, topOf, env: options.env, clock, log }));
  const watches = createWatches({
    trees,
    use: (id, work) => sessions.use(id, ({ context }) => work({ workspaceId: context.workspaceId, root: context.cwd })),
    env: options.env,
    log,
  });
  const terminals = createTerminals({ runtime, loadPty, log });
  const models = createModelChecks({ config, providers, env: options.env, identity });
  const sessions = createSessions({
    home,
    root: sessionsDir,
    index,
    uploads,
    workspaces,
    sink: bus,
    holder,
    features: options.features,
    defaults,
    config,
    services: loadServices,
    resources: [{ holds: (id) => bus.followers(id) > 0 }, watches, terminals],
    lookAtTrust(root) {
      // Only compared with the previous read, to detect changes; decisions read the trust again.
      void Promise.all([trusted(root), rootOf(root).then(trusted)]).catch((error: unknown) =>
        log.warn('the trust of a directory cannot be looked at', { root, err: error }),
      );
    },
    flushEvents: bus.flush,
    gitFacts: git.facts,
    models,
    announceArchived: (sessionId, workspace_id) =>
      globalStream.publish('event.session.archived', { workspace_id }, { sessionId }),
    version,
    log,
    clock,
  });
  config.onSeen((fields, by) => {
    const guarding = fields.filter((field) => GUARDING_DOMAINS.has(field));
    if (guarding.length > 0)
      void sessions.warnOfChange({ what: `${guarding.join(', ')} of the configuration changed`, by });
  });
  const useContext: UseSession = (id, work) => sessions.use(id, ({ context }) => work(context));
  const gateway = createGateway({
    bus,
    sessions: sessions.streams,
    globalStream,
    frames: [
      ...sessionFrames(sessions),
      ...transcriptFrames(sessions.followers),
      ...watchFrames(watches),
      ...terminalFrames({ terminals, sessions, mounted: terminalsMounted(bind) }),
      ...options.features.flatMap((feature) => feature.frames?.(useContext) ?? []),
    ],
    ...(options.bypassAuth ? {} : { auth: credentials }),
    log,
  });
  // Closed in reverse order: clients receive the ends of their turns before their sockets are closed.
  opened.add(gateway);
  if (!options.bypassAuth) {
    opened.add(await createRevocation({ token, credentials, connections: gateway, log }));
  }
  opened.add(bus);
  opened.add(sessions);

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
    policies: createPolicies({ loopback: bind.loopback, needsCredentials: !options.bypassAuth, listedOrigins }),
    connections: gateway,
    config,
    providers,
    models,
    uploads,
    workspaces,
    trust,
    additionalDirs,
    projects,
    mcpConfig,
    mcpAuth,
    mcpManagement,
    sessions,
    terminals,
    git,
    fileSearch,
    runtime,
    preload: [sessions.preload, async () => (await loadServices()).loadModelClient()],
    meta,
    token: async () => (options.bypassAuth ? undefined : token.current()),
    async listening(boundPort) {
      await instance.bound(boundPort);
      // In the background, so that the first reply does not wait for the index.
      sessions.startBackground();
      uploads.startSweep();
      mcpAuth.start().catch((error: unknown) => log.warn('MCP grants could not be looked at', { err: error }));
      // The index takes over the rows of an earlier one.
      const removed = index.usable.then(() =>
        removeOldIndexes({
          home,
          version: indexSchema.version,
          // A server of another version may have another schema.
          inUse: async () => (await listInstances(home)).some((other) => other.host_version !== version),
        }),
      );
      removed.catch((error: unknown) => log.warn('old session indexes could not be removed', { err: error }));
    },
    requestStop,
    async workspaceChanged(id, what, by) {
      await sessions.warnOfChange({ what, by });
      await workspaces.announceChange(id, by);
    },
    stopRequested,
    close: () => opened.close(log),
  };
}
