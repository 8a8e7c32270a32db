/** The operations of clients on sessions. */
import type { AgentDefaults } from '#server/agent/contract/feature.ts';
import { lazy } from '#server/async/lazy.ts';
import { createSemaphore } from '#server/async/semaphore.ts';
import type { ManagedApi } from '#server/account/managed-api.ts';
import type { Config } from '#server/config/config.ts';
import { ServiceError, sessionNotFound } from '#server/errors/service-error.ts';
import type { StreamSource } from '#server/events/stream-source.ts';
import type { GitFactsCache } from '#server/git/facts.ts';
import type { WorkDirectory } from '#server/files/work-directory.ts';
import type { ModelChecks } from '#server/models/model-checks.ts';
import { createTranscriptFollowers, type TranscriptFollowers } from '#server/transcript/following/followers.ts';
import { projectedTypes } from '#server/transcript/following/projected.ts';
import { createMapper } from '#server/transcript/mapper.ts';
import { createOpJournals } from '#server/transcript/op-journal.ts';
import type { Uploads } from '#server/uploads/uploads.ts';
import type { Workspaces } from '#server/workspaces/workspaces.ts';
import type { Caller } from '#schema/rest/caller.ts';
import type { Prompt, SubmitPrompt } from '#schema/rest/prompt.ts';
import type { ActivateSkill, SkillDescriptor } from '#schema/rest/skill.ts';
import type { PermissionMode } from '#schema/scalars.ts';
import type { RuntimeBinding, Session } from '#schema/rest/session.ts';
import type { GenerateTitle } from '#schema/rest/title.ts';
import type { SessionListing } from '#schema/rest/session-listing.ts';
import type { ToolDescriptor } from '#schema/rest/tool.ts';
import { copyChanges, type CopyRequest } from './copies/copy-changes.ts';
import type { WantedCopy } from './copies/session-copies.ts';
import { sessionOfHeader, type SessionHeader } from './index/session-header.ts';
import { createStateFiles } from './index/state-files.ts';
import { quoted, recently, type GuardedChange } from './live/change-warning.ts';
import { createLiveSessions, type LiveSessions, type LiveSessionsDeps } from './live/live-sessions.ts';
import { createSessionLoader, type SessionLoaderDeps } from './live/session-loader.ts';
import { createSessionRecovery } from './live/session-recovery.ts';
import type { LiveSession } from './live/session.ts';
import { createWokenSessions } from './live/woken-sessions.ts';
import { createSessionFolds } from './reading/session-folds.ts';
import { createSessionReads, type ReadSession } from './reading/session-reads.ts';
import { createSessionStreams } from './reading/session-streams.ts';
import { createTranscriptReads, type ReadTranscripts } from './reading/transcript-reads.ts';
import type { ListingQuery } from './listing/listing-query.ts';
import { readListing } from './listing/session-listing.ts';
import { createArchiveActions, type ArchiveActions } from './requests/archive-actions.ts';
import { createBatchActions, type BatchActions } from './requests/batch-actions.ts';
import { createConversationActions, type ConversationActions } from './requests/conversation-actions.ts';
import { createTitles } from './requests/generate-title.ts';
import { checkClientLists, hasClientLists, replaceClientLists } from './requests/client-lists.ts';
import { newSessionHeader, type CreateSession } from './requests/new-session.ts';
import { createSessionExport, type ExportSession } from './requests/session-export.ts';
import { listPortions, listSessions, type SessionListQuery } from './requests/session-list.ts';
import { describeTools } from './requests/session-tools.ts';
import { slashCommands } from './requests/slash-commands.ts';
import { activateSkillIn } from './requests/activate-skill.ts';
import { submitPrompt } from './requests/submit-prompt.ts';
import { switchRuntime } from './requests/switch-runtime.ts';
import { updateProfile, type ProfileUpdate } from './requests/update-profile.ts';

export type ChildrenQuery = Pick<SessionListQuery, 'before_id' | 'after_id' | 'page_size' | 'busy'>;

const CHILDREN_PAGE_SIZE = 100;

/** Delay of background work after the start, so that opening the index does not delay the server's first replies. */
const START_DELAY_MS = 100;

/** Number of sessions that are loaded or folded concurrently. */
const LOADS = 8;

export interface SessionsDeps
  extends
    Pick<
      SessionLoaderDeps,
      'root' | 'sink' | 'holder' | 'services' | 'features' | 'lookAtTrust' | 'flushEvents' | 'version'
    >,
    Pick<LiveSessionsDeps, 'index' | 'resources' | 'log' | 'clock'> {
  home: string;
  defaults: AgentDefaults;
  config: Pick<Config, 'effective' | 'resolveFlags'>;
  /** The cloud that generates titles. */
  cloud: Pick<ManagedApi, 'chatTitle'>;
  workspaces: Workspaces;
  models: ModelChecks;
  /** The uploads that prompts may reference. */
  uploads: Uploads;
  gitFacts: Pick<GitFactsCache, 'read'>;
  /** Publishes `event.session.archived` in the global stream. */
  announceArchived(sessionId: string, workspaceId: string): void;
  /** Called after a session was restored from the archive. */
  onRestored(sessionId: string): void;
}

/** The work directory of a session. */
export interface SessionDirectory extends WorkDirectory {
  readonly workspaceId: string;
}

export interface Sessions extends ConversationActions, ArchiveActions, BatchActions {
  create(request: CreateSession): Promise<Session>;
  /** Returns the Session object; does not load the session. Throws `session.not_found`. */
  get(id: string): Promise<Session>;
  /** Throws `session.not_found`. */
  assertExists(id: string): Promise<void>;
  /** Reads a page of the v1 list. Throws `workspace.not_found`. */
  list(query: SessionListQuery): Promise<{ items: Session[]; has_more: boolean }>;
  /** Reads all sessions that match, in portions. Throws `workspace.not_found`. */
  portions(query: SessionListQuery): AsyncGenerator<Session[], undefined>;
  /** Reads a page of the v2 list; loads no session. Throws `page_token.mismatch`, `persistence.failure`. */
  listing(query: ListingQuery): Promise<SessionListing>;
  /**
   * Reads a session without loading or changing it. Throws `session.not_found`; `internal.error` if its journal is
   * damaged.
   */
  read: ReadSession;
  /** Like `read`, for the session's transcripts. */
  transcript: ReadTranscripts;
  /**
   * Loads the session and keeps it loaded until `work` settles, for operations that change it. Throws
   * `session.not_found`, `internal.error`.
   */
  use: LiveSessions['use'];
  /**
   * Returns the directory in which the session's file actions work; loads the session. Throws `session.not_found`,
   * `internal.error`.
   */
  workDirectory(id: string): Promise<SessionDirectory>;
  /** Like `use` if the session is loaded; otherwise returns undefined. Throws `session.not_found`. */
  ifLoaded: LiveSessions['ifLoaded'];
  /** Like `ifLoaded`, with the most recently created of the loaded sessions. */
  ifAnyLoaded<T>(work: (session: LiveSession) => T | Promise<T>): Promise<T | undefined>;
  /** Submits a prompt. `by` is the client, which is recorded with a change of the permission mode. */
  submit(id: string, body: SubmitPrompt, by?: Caller): Promise<Prompt>;
  /** The skills and slash commands of the session; loads it. Throws `session.not_found`, `internal.error`. */
  skills(id: string): Promise<SkillDescriptor[]>;
  /** Activates a skill in the main agent, or the command of a plugin; see `activateSkillIn`. */
  activateSkill(id: string, name: string, body: ActivateSkill): Promise<void>;
  updateProfile(id: string, body: ProfileUpdate, by?: Caller): Promise<Session>;
  /** Generates and stores a title; see `createTitles`. */
  generateTitle(id: string, request: GenerateTitle): Promise<string>;
  /**
   * Binds the agents of loaded sessions that have the first model to the second, from their next turn. A session of
   * another server is left to that server. Never rejects.
   */
  replaceModel(from: string, to: string): Promise<void>;
  /**
   * Switches the runtime of the main agent's next calls. Throws `session.not_found`, `runtime.not_found`,
   * `session.busy`, `persistence.failure`.
   */
  switchRuntime(id: string, runtimeId: string): Promise<RuntimeBinding>;
  /**
   * Creates a new session as a copy of this one. Throws `session.not_found`, `session.busy`, `internal.error`,
   * `persistence.failure`.
   */
  fork(id: string, request: CopyRequest): Promise<Session>;
  /** Like `fork`; the copy is listed as a child of the session. */
  createChild(id: string, request: CopyRequest): Promise<Session>;
  /** Lists the session's children that are not archived. Throws `session.not_found`. */
  children(id: string, query: ChildrenQuery): Promise<{ items: Session[]; has_more: boolean }>;
  export: ExportSession;
  /** Returns the present row of a session that is loaded in this process. */
  liveRow(id: string): SessionHeader | undefined;
  /** Returns the workspace ids of the sessions that are loaded in this process. */
  liveWorkspaceIds(): string[];
  /** Like `liveRow`, with the length of the session's journal in bytes. */
  liveJournal(id: string): { header: SessionHeader; length: number } | undefined;
  /**
   * Returns the tools of a loaded session, default: of the one created last; empty for an unknown or cold session.
   * Loads none.
   */
  tools(id: string | undefined): Promise<ToolDescriptor[]>;
  /**
   * Warns sessions that a setting changed which decides what may run without approval: the loaded sessions in which a
   * command of the model is running, has left processes running, or ended after the change could have been made.
   */
  warnOfChange(change: GuardedChange): Promise<void>;
  streams: StreamSource;
  /** The followers of the transcripts. */
  followers: TranscriptFollowers;
  /** Imports the modules of sessions and prompts before their first use. */
  preload(): Promise<void>;
  /** Starts to settle sessions that killed servers left open, and to load the sessions that wake. */
  startBackground(): void;
  close(): Promise<void>;
}

/** Creates the service; loads nothing. */
export function createSessions(deps: SessionsDeps): Sessions {
  const { home, index, workspaces, models, features, holder, version, log, clock } = deps;
  const slots = createSemaphore(LOADS);
  const mapper = createMapper(features);
  const projections = features.flatMap((feature) => feature.projection ?? []);
  const followers = createTranscriptFollowers({
    session: (id) => live.get(id),
    projected: projectedTypes(features),
    clock,
    log,
  });
  const folds = createSessionFolds({ slots, holder, projections, mapper, clock });
  const files = createStateFiles({ index, log, clock });
  const loader = createSessionLoader({
    root: deps.root,
    index,
    files,
    sink: deps.sink,
    holder,
    services: deps.services,
    features,
    ensureWorkspace,
    slots,
    takeFold: folds.take,
    transcripts: { mapper, journals: createOpJournals() },
    modeChanged,
    lookAtTrust: deps.lookAtTrust,
    loaded: followers.loaded,
    changed: (id) => live.persist(id),
    becameReadOnly: (id) => live.abandon(id),
    flushEvents: deps.flushEvents,
    version,
    log,
    clock,
  });
  const live: LiveSessions = createLiveSessions({
    loader,
    index,
    files,
    resources: deps.resources,
    models,
    log,
    clock,
  });
  const copies = lazy(async () => {
    const { createSessionCopies } = await import('./copies/session-copies.ts');
    return createSessionCopies({ index, folds: folds.plain, sink: deps.sink, holder, slots, clock, loader, live });
  });
  const read = createSessionReads({ live, folds: folds.plain, index, defaults: deps.defaults, features });
  const transcript = createTranscriptReads({
    live,
    folds: folds.withTranscripts,
    index,
    projection: folds.projection,
  });
  const archiveActions = createArchiveActions({
    live,
    rowOf,
    announceArchived: deps.announceArchived,
    onRestored: deps.onRestored,
    clock,
  });
  const recovery = createSessionRecovery({ index, live, holder, log, clock });
  let callOffStart = () => {};
  const woken = createWokenSessions({ index, live, features, config: deps.config, holder, log });

  async function ensureWorkspace(workspaceId: string, root: string): Promise<void> {
    try {
      await workspaces.get(workspaceId);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.name !== 'workspace.not_found') throw error;
      await workspaces.register(root);
    }
  }

  function rowOf(id: string): SessionHeader {
    const row = index.get(id) ?? live.get(id)?.row();
    if (!row) throw sessionNotFound(id);
    return row;
  }

  function view(row: SessionHeader): Session {
    return live.get(row.id)?.view(row) ?? sessionOfHeader(row, undefined);
  }

  async function create(request: CreateSession): Promise<Session> {
    await models.assertSubagentPool();
    await checkClientLists(request);
    const row = await newSessionHeader(request, { workspaces, clock });
    const session = await live.create(row);
    if (hasClientLists(request)) replaceClientLists(session, request);
    return session.view(row);
  }

  const busyIds = () =>
    live.all().flatMap((session) => (session.activity().busy && session.view().busy ? [session.id] : []));

  async function list(query: SessionListQuery) {
    const { rows, hasMore } = await listSessions(query, { index, workspaces, busyIds });
    return { items: rows.map(view), has_more: hasMore };
  }

  async function* portions(query: SessionListQuery): AsyncGenerator<Session[], undefined> {
    for await (const rows of listPortions(query, { index, workspaces, busyIds })) yield rows.map(view);
  }

  /** Copies a session. Not a transaction: writes before a failure remain. */
  async function copyOf(id: string, kind: WantedCopy['kind'], request: CopyRequest): Promise<Session> {
    await index.ready();
    rowOf(id);
    await models.assertSubagentPool();
    const copy = await copies();
    return live.inTurn(id, async () => {
      const describe = (header: SessionHeader) => ({ ...header, ...copyChanges(kind, rowOf(id), header, request) });
      const source = live.get(id)?.row() ?? rowOf(id);
      await ensureWorkspace(source.workspaceId, source.cwd);
      return copy(source, { kind, describe });
    });
  }

  async function children(id: string, { page_size = CHILDREN_PAGE_SIZE, ...query }: ChildrenQuery) {
    await index.ready();
    rowOf(id);
    return list({ ...query, page_size, parent: id });
  }

  async function warnOfChange(change: GuardedChange): Promise<void> {
    const since = change.since ?? recently(clock.now());
    await Promise.all(live.all().map((session) => session.warnOfChange(change, since)));
  }

  async function replaceModel(from: string, to: string): Promise<void> {
    const replaceIn = async ({ id }: LiveSession) => {
      try {
        await live.ifLoaded(id, (session) => session.replaceModel(from, to));
      } catch (error) {
        if (error instanceof ServiceError && error.name === 'session.busy') return;
        log.warn('agents of a session could not be moved to another model', { sessionId: id, err: error });
      }
    };
    await Promise.all(live.all().map(replaceIn));
  }

  function modeChanged(id: string, mode: PermissionMode, by: Caller | undefined): void {
    const title = live.get(id)?.view().title || id;
    void warnOfChange({ what: `the permission mode of session ${quoted(title)} was set to ${mode}`, by });
  }

  async function tools(id: string | undefined): Promise<ToolDescriptor[]> {
    if (id === undefined) await index.ready();
    const chosen = id ?? index.newestId();
    const session = chosen === undefined ? undefined : live.get(chosen);
    return session ? describeTools(session) : [];
  }

  return {
    create,
    async get(id) {
      await index.ready();
      return view(rowOf(id));
    },
    async assertExists(id) {
      await index.ready();
      rowOf(id);
    },
    list,
    portions,
    listing: (query) => readListing(query, { index, live, workspaces, gitFacts: deps.gitFacts }),
    read,
    transcript,
    use: live.use,
    workDirectory: (id) =>
      live.use(id, ({ context }) => ({
        workspaceId: context.workspaceId,
        root: context.cwd,
        additionalDirs: context.services.reach(context).additionalDirs,
      })),
    async ifLoaded(id, work) {
      await index.ready();
      rowOf(id);
      return live.ifLoaded(id, work);
    },
    async ifAnyLoaded(work) {
      const newest = live.all().reduce<LiveSession | undefined>((last, session) => {
        return last && last.row().createdAt >= session.row().createdAt ? last : session;
      }, undefined);
      return newest && live.ifLoaded(newest.id, work);
    },
    skills: (id) => live.use(id, async ({ context: { services, cwd } }) => slashCommands(services, cwd)),
    activateSkill: (id, name, body) =>
      activateSkillIn(id, name, body, { models, uploads: deps.uploads, use: live.use }),
    submit: (id, body, by) => submitPrompt(id, body, { models, uploads: deps.uploads, use: live.use, by }),
    warnOfChange,
    updateProfile: (id, body, by) =>
      live.use(id, (session) => updateProfile(session, body, { live, models, clock, by })),
    generateTitle: createTitles({ live, config: deps.config, cloud: deps.cloud, log }),
    replaceModel,
    switchRuntime: (id, runtimeId) => live.use(id, (session) => switchRuntime(session, runtimeId)),
    ...createConversationActions(live),
    ...archiveActions,
    ...createBatchActions({ actions: archiveActions, ready: index.ready }),
    fork: (id, request) => copyOf(id, 'fork', request),
    createChild: (id, request) => copyOf(id, 'child', request),
    children,
    export: createSessionExport({ home, version, live, index, clock }),
    liveRow: (id) => live.get(id)?.row(),
    liveWorkspaceIds: () => [...new Set(live.all().map((session) => session.loaded.workspaceId))],
    liveJournal(id) {
      const session = live.get(id);
      return session && { header: session.row(), length: session.log.length };
    },
    tools,
    streams: createSessionStreams({ index, live, holder, rowOf }),
    followers,
    async preload() {
      // One after the other: the modules of both together would block the loop longer.
      await loader.engine();
      await copies();
    },
    startBackground() {
      callOffStart = clock.setTimeout(() => {
        recovery.start();
        woken.start();
      }, START_DELAY_MS);
    },
    async close() {
      callOffStart();
      await Promise.all([recovery.close(), woken.close()]);
      await live.close();
    },
  };
}
