/** The composition root: builds every service once, layer by layer. The only file that knows all of them. */
import { createAccount, type Account } from '#server/account/account.ts';
import { createAgentDefaults } from '#server/agent/binding/defaults.ts';
import type { UseSession } from '#server/agent/contract/feature.ts';
import { createCoalescer } from '#server/async/coalesce.ts';
import { lazyService } from '#server/async/lazy.ts';
import { createRevocation } from '#server/auth/revocation.ts';
import { createCapabilities, type Capabilities } from '#server/capabilities/capabilities.ts';
import type { Config } from '#server/config/config.ts';
import { createDebug, type Debug } from '#server/debug/debug.ts';
import { createGateway } from '#server/events/gateway.ts';
import type { Connections } from '#server/events/peer.ts';
import { createFileSearch, type FileSearch } from '#server/file-search/file-search.ts';
import { createGit, type Git } from '#server/git/git.ts';
import { listInstances } from '#server/home/instances.ts';
import { newUlid } from '#server/ids.ts';
import type { Logger } from '#server/logging/log.ts';
import type { McpAuth } from '#server/mcp/auth/mcp-auth.ts';
import type { McpConfig } from '#server/mcp/config/mcp-config.ts';
import type { McpManagement } from '#server/mcp/management/management.ts';
import { retiredDefault } from '#server/model-catalog/retired-default.ts';
import { createModelChecks, type ModelChecks } from '#server/models/model-checks.ts';
import { createProviders, type Providers } from '#server/models/providers/providers.ts';
import type { AcceptConnection } from '#server/net/connection-facts.ts';
import { createHttpClient } from '#server/net/http-client.ts';
import type { Plugins } from '#server/plugins/plugins.ts';
import type { Projects } from '#server/project-files/projects.ts';
import type { RemoteControl } from '#server/remote/remote-control.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import type { Runtime } from '#server/runtime/runtime.ts';
import { indexSchema } from '#server/sessions/index/session-header.ts';
import { sessionFrames } from '#server/sessions/requests/conversation-actions.ts';
import { createSessions, type Sessions } from '#server/sessions/sessions.ts';
import { removeOldIndexes } from '#server/storage/old-indexes.ts';
import type { Search } from '#server/search/search.ts';
import { searchSchema } from '#server/search/tables.ts';
import { loadPty } from '#server/terminals/pty.ts';
import { terminalFrames } from '#server/terminals/terminal-frames.ts';
import { createTerminals, terminalsMounted, type Terminals } from '#server/terminals/terminals.ts';
import { transcriptFrames } from '#server/transcript/transcript-frames.ts';
import { createUploads, type Uploads } from '#server/uploads/uploads.ts';
import { SERVER_VERSION } from '#server/version.ts';
import { createTrees } from '#server/watches/trees.ts';
import { watchFrames } from '#server/watches/watch-frames.ts';
import { createWatches, windowMs } from '#server/watches/watches.ts';
import type { AdditionalDirs } from '#server/workspaces/additional-dirs.ts';
import type { Trust } from '#server/workspaces/trust.ts';
import type { Workspaces } from '#server/workspaces/workspaces.ts';
import type { Caller } from '#schema/rest/caller.ts';
import type { SkillDescriptor } from '#schema/rest/skill.ts';
import type { Meta } from '#schema/rest/meta.ts';
import { createAccess, type Access } from './access.ts';
import { createDisposers, type Disposers } from './disposers.ts';
import { createFollowUps, type FollowUps } from './follow-ups.ts';
import { createMeta } from './meta.ts';
import { openHome } from './open-home.ts';
import { openLogins, type Logins } from './open-logins.ts';
import { openMcp } from './open-mcp.ts';
import { openModelDirectory, type OpenedModelDirectory } from './open-model-directory.ts';
import { openModelRefresh, type OpenedModelRefresh } from './open-model-refresh.ts';
import { openPlugins } from './open-plugins.ts';
import { openRemote } from './open-remote.ts';
import { openSearch } from './open-search.ts';
import { logOfSessions, openIndex, openProjectFolders, sessionsDir } from './open-workspaces.ts';
import type { AppOptions, BindOptions } from './options.ts';

export interface App extends Logins {
  readonly serverId: string;
  readonly options: AppOptions;
  /** The options of connections to the port. */
  readonly bind: BindOptions;
  /** The server log and the engine's log files. */
  readonly log: Logger;
  /** Only the server log, for lines that are too many for the log files. */
  readonly accessLog: Logger;
  /** Decides about requests, by the connection on which they arrive. */
  readonly access: Access;
  readonly connections: Connections;
  readonly config: Config;
  readonly account: Account;
  readonly providers: Providers;
  readonly modelRefresh: OpenedModelRefresh;
  readonly models: ModelChecks;
  readonly modelDirectory: OpenedModelDirectory;
  readonly uploads: Uploads;
  readonly workspaces: Workspaces;
  readonly trust: Trust;
  readonly additionalDirs: AdditionalDirs;
  readonly mcpConfig: McpConfig;
  readonly mcpAuth: McpAuth;
  readonly mcpManagement: McpManagement;
  readonly plugins: Plugins;
  readonly sessions: Sessions;
  readonly terminals: Terminals;
  readonly capabilities: Capabilities;
  readonly git: Git;
  readonly fileSearch: FileSearch;
  readonly search: Search;
  readonly runtime: Runtime;
  readonly projects: Projects;
  /** The skills and slash commands that sessions in this directory would have. */
  skillsOf(cwd: string): Promise<SkillDescriptor[]>;
  readonly debug: Debug;
  /** Functions that import the modules of prompts and of reads of sessions before their first use. */
  readonly preload: readonly (() => Promise<unknown>)[];
  meta(): Meta;
  /** The home's token, for URLs shown to the user; undefined with `--dangerous-bypass-auth`. */
  token(): Promise<string | undefined>;
  /** To be called once the port is bound. Commands use the server unless it ends with one (`isShared`: false). */
  listening(port: number, options?: { isShared: boolean }): Promise<void>;
  /**
   * Serves a connection that a part of this process has accepted; it carries a single request. While no HTTP server
   * runs, it is destroyed.
   */
  acceptConnection: AcceptConnection;
  /** Sets the function that serves those connections, to be called by the code that runs the HTTP server. */
  serveConnections(accept: AcceptConnection): void;
  /** Loads remote control at its first use. */
  remote(): Promise<RemoteControl>;
  /** Runs the work of endpoints that follows their replies. */
  readonly followUps: FollowUps;
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

async function buildApp(options: AppOptions, opened: Disposers): Promise<App> {
  const { clock, env } = options;
  const serverId = newUlid();
  const startedAt = Date.now();

  // The home, and who may send requests.
  const home = await openHome(options, { serverId, startedAt }, opened);
  const { token, documents, bus, instance, globalStream, config, identity } = home;
  const access = createAccess(options, token);

  // Projects, models, MCP servers.
  const index = opened.add(openIndex(options, home));
  const log = logOfSessions(options, home, index);
  const uploads = opened.add(createUploads({ home: options.home, env, documents, clock, log }));
  const runtime = createLocalRuntime({ env });
  const folders = openProjectFolders(
    {
      options,
      home,
      index,
      runtime,
      trustChanged: () => mcpConfig.reload(),
      warnOfChange: (change) => sessions.warnOfChange(change),
      log,
    },
    opened,
  );
  const { workspaces, trust, projects, additionalDirs } = folders;
  const { fetch } = opened.add(createHttpClient());
  const { holder } = instance;
  const account = opened.add(
    createAccount({ home: options.home, documents, holder, config, env, identity, fetch, clock, log }),
  );
  const plugins = openPlugins({ options, home, account, runtime, fetch, log }, opened);
  const clientName = () => identity.slug(config.effective().identity);
  const { mcpConfig, mcpAuth, mcpManagement } = openMcp(
    { options, home, folders, plugins, fetch, clientName, log },
    opened,
  );
  const providers = createProviders({ account, config, env });
  const modelRefresh = openModelRefresh({ options, home, serverId, account, fetch, log }, opened);
  let port = options.port;
  let accept: AcceptConnection = (connection) => connection.destroy();
  const acceptConnection: AcceptConnection = (connection, facts) => accept(connection, facts);
  const remote = openRemote(
    {
      options,
      serverId,
      bind: access.bind.mounts,
      home,
      account,
      fetch,
      port: () => port,
      acceptConnection,
      log,
    },
    opened,
  );
  const logins = openLogins(
    {
      options,
      home,
      account,
      fetch,
      refreshManaged: (by) => modelRefresh.refresh('oauth', by),
      remote: { beginLogout: async () => (await remote()).beginLogout() },
      log,
    },
    opened,
  );
  const models = createModelChecks({ config, account, env, identity });
  const modelDirectory = openModelDirectory({ options, home, account, providers, fetch, log }, opened);

  const search = openSearch(
    { options, home, index, workspaces, liveJournal: (id) => sessions.liveJournal(id), log },
    opened,
  );
  bus.listen({ receive: search.receive, flushed: () => undefined, followers: () => 0 });

  // Services of agents, which are imported with the first session.
  const defaults = createAgentDefaults(config);
  const sessionServices = lazyService(async () => {
    const { createSessionServices } = await import('./agent-services.ts');
    return createSessionServices({
      options,
      runtime,
      projects,
      trusted: trust.trusted,
      additionalDirs: additionalDirs.of,
      ignoredDirs: additionalDirs.ignored,
      mcpConfig,
      mcpAuth,
      clientName,
      plugins,
      fetch,
      clock,
      home: options.home,
      config,
      account,
      defaults,
      env,
      identity,
      documents,
      log,
    });
  });
  const { load: loadServices } = opened.add(sessionServices);

  // Files, terminals, sessions.
  const git = opened.add(createGit({ runtime, clock, timeoutMs: options.fileTimeouts.gitMs }));
  const trees = opened.add(createTrees({ windowMs: () => windowMs(env()), log }));
  const fileSearch = opened.add(createFileSearch({ trees, runtime, topOf: projects.topOf, env, clock, log }));
  const watches = createWatches({
    trees,
    use: (id, work) => sessions.use(id, ({ context }) => work({ workspaceId: context.workspaceId, root: context.cwd })),
    env,
    log,
  });
  const terminals = createTerminals({ runtime, loadPty, log });
  const trustReads = createCoalescer<unknown>();
  const sessions = createSessions({
    home: options.home,
    root: sessionsDir(options.home),
    index,
    uploads,
    workspaces,
    sink: bus,
    holder,
    features: options.features,
    defaults,
    config,
    cloud: logins.managedApi,
    services: loadServices,
    resources: [{ holds: (id) => bus.followers(id) > 0 }, watches, terminals],
    lookAtTrust(root) {
      // Only compared with the previous read, to detect changes; decisions read the trust again.
      const look = () => Promise.all([trust.trusted(root), projects.rootOf(root).then(trust.trusted)]);
      void trustReads
        .run(root, look)
        .catch((error: unknown) => log.warn('the trust of a directory cannot be looked at', { root, err: error }));
    },
    flushEvents: bus.flush,
    gitFacts: git.facts,
    models,
    announceArchived(sessionId, workspace_id) {
      globalStream.publish('event.session.archived', { workspace_id }, { sessionId });
      search.changed(sessionId);
    },
    onRestored: search.changed,
    version: SERVER_VERSION,
    log,
    clock,
  });
  config.onSeen(({ fields, by, before, after }) => {
    const retired = retiredDefault(before, after);
    if (retired) void sessions.replaceModel(retired.from, retired.to);
    const guarding = fields.filter((field) => GUARDING_DOMAINS.has(field));
    if (guarding.length > 0)
      void sessions.warnOfChange({ what: `${guarding.join(', ')} of the configuration changed`, by });
  });

  // Connections. Closed in reverse order: clients receive the ends of their turns before their sockets are closed.
  const useContext: UseSession = (id, work) => sessions.use(id, ({ context }) => work(context));
  const gateway = createGateway({
    bus,
    sessions: sessions.streams,
    globalStream,
    frames: [
      ...sessionFrames(sessions),
      ...transcriptFrames(sessions.followers),
      ...watchFrames(watches),
      ...terminalFrames({ terminals, sessions, mounted: (facts) => terminalsMounted(access.mounts(facts)) }),
      ...options.features.flatMap((feature) => feature.frames?.(useContext) ?? []),
    ],
    ...(options.bypassAuth ? {} : { auth: access.credentials }),
    log,
  });
  opened.add(gateway);
  if (!options.bypassAuth) {
    const { credentials } = access;
    opened.add(await createRevocation({ token, credentials, connections: gateway, log }));
  }
  opened.add(bus);
  opened.add(sessions);
  const capabilities = opened.add(
    createCapabilities({
      table: options.capabilities,
      publish: (capability_id, install) =>
        globalStream.publishVolatile('event.capability.changed', { capability_id, install }),
      clock,
      log,
    }),
  );

  const debug = createDebug({
    services: { additionalDirs, connections: gateway, models, projects, sessions, trust, uploads, workspaces },
    agentServices: async () => (await loadServices()).services,
    mcpConfig,
    serverId,
    clock,
  });

  const meta = createMeta({
    serverId,
    startedAt,
    bypassAuth: options.bypassAuth,
    webTitle: options.webTitle,
    flags: config.resolveFlags,
  });

  const followUps = opened.add(createFollowUps(log));
  let requestStop = () => {};
  const stopRequested = new Promise<void>((resolve) => (requestStop = resolve));

  return {
    serverId,
    options,
    bind: access.bind.mounts,
    log,
    accessLog: options.log,
    access,
    connections: gateway,
    config,
    account,
    ...logins,
    providers,
    modelRefresh,
    models,
    modelDirectory,
    uploads,
    workspaces,
    trust,
    additionalDirs,
    projects,
    mcpConfig,
    mcpAuth,
    mcpManagement,
    plugins,
    sessions,
    terminals,
    capabilities,
    git,
    fileSearch,
    search,
    runtime,
    async skillsOf(cwd) {
      const [{ services }, { slashCommands }] = await Promise.all([
        loadServices(),
        import('#server/sessions/requests/slash-commands.ts'),
      ]);
      return slashCommands(services, cwd);
    },
    debug,
    preload: [sessions.preload, async () => (await loadServices()).loadModelClient()],
    meta,
    token: async () => (options.bypassAuth ? undefined : token.current()),
    async listening(boundPort, { isShared } = { isShared: true }) {
      port = boundPort;
      await instance.bound(boundPort, isShared);
      // In the background, so that the first reply does not wait for the index.
      sessions.startBackground();
      search.startBackground();
      uploads.startSweep();
      modelRefresh.startSchedule();
      void plugins.ready();
      mcpAuth.start().catch((error: unknown) => log.warn('MCP grants could not be looked at', { err: error }));
      // The index takes over the rows of an earlier one.
      const removed = index.usable.then(() =>
        removeOldIndexes({
          home: options.home,
          versions: { index: indexSchema.version, search: searchSchema.version },
          // A server of another version may have another schema.
          inUse: async () => (await listInstances(options.home)).some((other) => other.host_version !== SERVER_VERSION),
        }),
      );
      removed.catch((error: unknown) => log.warn('old indexes could not be removed', { err: error }));
    },
    acceptConnection,
    serveConnections(serve) {
      accept = serve;
    },
    remote,
    followUps,
    requestStop,
    async workspaceChanged(id, what, by) {
      await sessions.warnOfChange({ what, by });
      await workspaces.announceChange(id, by);
    },
    stopRequested,
    close: () => opened.close(log),
  };
}
