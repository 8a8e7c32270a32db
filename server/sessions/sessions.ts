/** What clients can do with sessions. */
import { stat } from 'node:fs/promises';
import { invalidField, ServiceError, sessionNotFound } from '#server/errors/service-error.ts';
import { directoryFault } from '#server/files/file-kind.ts';
import type { AgentChange } from '#server/agent/context.ts';
import { DEFAULT_PROFILE } from '#server/agent/profile.ts';
import { openSideConversation } from '#server/features/btw/btw.ts';
import { compaction } from '#server/features/compaction/compaction.ts';
import { undoTurns } from '#server/features/undo/undo.ts';
import type { StreamPosition } from '#server/events/frame.ts';
import type { StreamSource } from '#server/events/stream-source.ts';
import { isMcpTool, serverOfTool } from '#server/mcp/tool-names.ts';
import { LOCAL_RUNTIME } from '#server/runtime/local.ts';
import { lockOwner } from '#server/journal/lock.ts';
import { readPosition, replayCold } from '#server/journal/replay.ts';
import { transcriptProjection } from '#server/transcript/fold.ts';
import type { FollowedSession } from '#server/transcript/following/feed.ts';
import { createTranscriptFollowers, type TranscriptFollowers } from '#server/transcript/following/followers.ts';
import { createMapper } from '#server/transcript/mapper.ts';
import { createOpJournals } from '#server/transcript/op-journal.ts';
import type { Prompt, SubmitPrompt } from '#schema/prompt.ts';
import type { AgentConfigRequest, RuntimeBinding, Session, SessionStatus } from '#schema/session.ts';
import type { ToolDescriptor } from '#schema/tool.ts';
import type { WorkDirectory } from '#server/files/work-directory.ts';
import type { Uploads } from '#server/uploads/uploads.ts';
import type { Workspaces } from '#server/workspaces/workspaces.ts';
import { createColdFolds } from './cold-folds.ts';
import { createLiveSessions, type LiveSessions, type LiveSessionsDeps, type WantedCopy } from './live-sessions.ts';
import { createLoadSlots } from './load-slots.ts';
import { listSessions, type SessionListQuery } from './session-list.ts';
import { copyChanges, type CopyRequest } from './copy-changes.ts';
import { customMetadata, newSessionId, sessionOfHeader, type SessionHeader } from './session-header.ts';
import type { ModelChecks } from '#server/models/model-checks.ts';
import type { MessagePage } from './message-page.ts';
import { promptText } from './prompt-text.ts';
import type { LiveSession } from './session.ts';
import { createSessionReader, runtimeOf } from './session-views.ts';
import { createSessionMcpServers, type SessionMcpServers } from './mcp-servers.ts';
import { createSessionExport, type ExportSession } from './session-export.ts';
import { createSessionReads, type ReadSession } from './session-reads.ts';
import { createSessionRecovery } from './session-recovery.ts';
import { submitPrompt } from './submit-prompt.ts';
import { createTranscriptReads, KEPT_TRANSCRIPTS, type ReadTranscripts } from './transcript-reads.ts';

export interface CreateSession {
  workspace_id?: string | undefined;
  metadata?: (Record<string, unknown> & { cwd?: string | undefined }) | undefined;
  title?: string | undefined;
}

export interface ProfileUpdate {
  title?: string | undefined;
  metadata?: Record<string, unknown> | undefined;
  agent_config?: AgentConfigRequest | undefined;
}

export type ChildrenQuery = Pick<SessionListQuery, 'before_id' | 'after_id' | 'page_size' | 'busy'>;

const CHILDREN_PAGE_SIZE = 100;

export interface UndoRequest {
  /** Turns; 1 unless given. */
  count?: number | undefined;
  /** Messages of the reply. */
  page_size?: number | undefined;
}

/** What remains of the conversation. */
export interface Undone {
  messages: MessagePage;
  status: SessionStatus;
}

/** Sessions being loaded or folded at the same time. */
const LOADS = 8;

export interface SessionsDeps extends Omit<LiveSessionsDeps, 'ensureWorkspace' | 'slots' | 'transcripts' | 'loaded'> {
  home: string;
  workspaces: Workspaces;
  models: ModelChecks;
  /** What prompts may name. */
  uploads: Uploads;
  /** `event.session.archived` belongs to the global stream. */
  announceArchived(sessionId: string, workspaceId: string): void;
}

/** The work directory of a session. */
export interface SessionDirectory extends WorkDirectory {
  readonly workspaceId: string;
}

export interface Sessions {
  create(request: CreateSession): Promise<Session>;
  /** Does not load. Throws 40401. */
  get(id: string): Promise<Session>;
  /** Throws 40401. */
  assertExists(id: string): Promise<void>;
  list(query: SessionListQuery): Promise<{ items: Session[]; has_more: boolean }>;
  /** For what only reads: does not load, and changes nothing. Throws 40401, and 50001 of a damaged journal. */
  read: ReadSession;
  /** The same of its transcripts. */
  transcript: ReadTranscripts;
  /** For what changes something: loads the session and keeps it loaded until the work is done. Throws 40401, 50001. */
  use: LiveSessions['use'];
  /** Where its file actions work; loads it. Throws 40401, 50001. */
  workDirectory(id: string): Promise<SessionDirectory>;
  /** As `use`, of a session that is loaded; undefined of one that is not. Throws 40401. */
  ifLoaded: LiveSessions['ifLoaded'];
  submit(id: string, body: SubmitPrompt): Promise<Prompt>;
  updateProfile(id: string, body: ProfileUpdate): Promise<Session>;
  /** The runtime that the main agent works on from its next call on. Throws 40401, 40420, 40901, 50003. */
  switchRuntime(id: string, runtimeId: string): Promise<RuntimeBinding>;
  abortTurn(id: string): Promise<{ aborted: true }>;
  /** Begins to compact the main agent's context. Throws 40401, 40901, 40910, 50003. */
  compact(id: string, instruction: string | undefined): Promise<Record<never, never>>;
  /** Opens a side conversation. Throws 40110 to 40113, 40401, 40901, 50003. */
  openSideConversation(id: string): Promise<{ agent_id: string }>;
  /** Aborts a prompt; `at_seq` is the watermark at acceptance. Throws 40401, 40402 or 40903. */
  abort(id: string, promptId: string): Promise<{ aborted: true; at_seq: number }>;
  /** Puts waiting prompts into the turn that runs. Throws 40401, 40402 or 40901. */
  steer(id: string, promptIds: readonly string[]): Promise<void>;
  /** Takes back turns of the conversation, all or none. Throws 40401, 40901, 40911, 50003. */
  undo(id: string, request: UndoRequest): Promise<Undone>;
  /** A new session that begins as this one is. Throws 40401, 40901, 50001, 50003. */
  fork(id: string, request: CopyRequest): Promise<Session>;
  /** The same, listed as a child of it. */
  createChild(id: string, request: CopyRequest): Promise<Session>;
  /** Its children that are not archived. Throws 40401. */
  children(id: string, query: ChildrenQuery): Promise<{ items: Session[]; has_more: boolean }>;
  archive(id: string): Promise<{ archived: true }>;
  export: ExportSession;
  restore(id: string): Promise<Session>;
  /** Present row of a session that is loaded in this process. */
  liveRow(id: string): SessionHeader | undefined;
  /** Of a live session, of the one created last unless named; empty for an unknown or cold one. Loads none. */
  tools(id: string | undefined): Promise<ToolDescriptor[]>;
  readonly mcpServers: SessionMcpServers;
  streams: StreamSource;
  /** Who follows the transcripts. */
  followers: TranscriptFollowers;
  /** Begins to settle what dead servers left open. */
  startRecovery(): void;
  close(): Promise<void>;
}

/** Creates the service; loads nothing. */
export function createSessions(deps: SessionsDeps): Sessions {
  const { index, workspaces, clock } = deps;
  const slots = createLoadSlots(LOADS);
  const mapper = createMapper(deps.features.flatMap((feature) => feature.transcript ?? []));
  const transcripts = { mapper, journals: createOpJournals() };
  const followers = createTranscriptFollowers({
    session(id) {
      const session = live.get(id);
      return session && followed(session);
    },
    clock,
    log: deps.log,
  });
  const live: LiveSessions = createLiveSessions({
    ...deps,
    slots,
    transcripts,
    loaded: (session) => followers.loaded(followed(session)),
    ensureWorkspace,
  });
  const projections = deps.features.flatMap((feature) => feature.projection ?? []);
  const folds = createColdFolds({ slots, holder: deps.holder, projections });
  const read = createSessionReads({ ...deps, live, folds });
  const projection = transcriptProjection(mapper);
  const transcript = createTranscriptReads({
    live,
    index,
    projection,
    folds: createColdFolds({
      slots,
      holder: deps.holder,
      projections: [...projections, projection],
      ...KEPT_TRANSCRIPTS,
      clock,
    }),
  });
  const recovery = createSessionRecovery({ index, live, holder: deps.holder, log: deps.log, clock });

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

  /** The directory of a new session: a place is named, the workspace exists, both agree. */
  async function newDirectory({ workspace_id, metadata }: CreateSession): Promise<string> {
    const cwd = metadata?.cwd;
    if (workspace_id === undefined) {
      if (cwd !== undefined) return cwd;
      throw invalidField('metadata.cwd', 'either workspace_id or metadata.cwd is required');
    }
    const { root } = await workspaces.get(workspace_id);
    const bare = (path: string) => (path.length > 1 ? path.replace(/\/$/, '') : path);
    if (cwd !== undefined && bare(cwd) !== bare(root)) {
      throw invalidField('metadata.cwd', `metadata.cwd (${cwd}) must equal workspace root (${root})`);
    }
    return root;
  }

  async function assertDirectory(cwd: string): Promise<void> {
    const fault = await directoryFault(cwd, stat);
    if (fault === 'not a directory')
      throw new ServiceError('fs.path_not_found', `workspace root ${cwd} is not a directory`);
    // What the server may not look at counts as missing here.
    if (fault) throw new ServiceError('fs.path_not_found', `workspace root ${cwd} does not exist`);
  }

  async function create(request: CreateSession): Promise<Session> {
    await deps.models.assertSubagentPool();
    const cwd = await newDirectory(request);
    await assertDirectory(cwd);
    const workspace = await workspaces.register(cwd);
    const created = clock.now();
    const row: SessionHeader = {
      id: newSessionId(),
      workspaceId: workspace.id,
      cwd: workspace.root,
      title: request.title ?? '',
      titleKind: request.title === undefined ? 'replaceable' : 'custom',
      createdAt: created,
      updatedAt: created,
      archived: false,
      custom: customMetadata(request.metadata ?? {}),
      open: false,
    };
    return (await live.create(row)).view(row);
  }

  async function list(query: SessionListQuery) {
    const busyIds = () =>
      live.all().flatMap((session) => (session.activity().busy && session.view().busy ? [session.id] : []));
    const { rows, hasMore } = await listSessions(query, { index, workspaces, busyIds });
    return { items: rows.map(view), has_more: hasMore };
  }

  /** Not a transaction: what was stored before a failure stays. */
  async function copyOf(id: string, kind: WantedCopy['kind'], request: CopyRequest): Promise<Session> {
    await index.ready();
    rowOf(id);
    await deps.models.assertSubagentPool();
    return live.inTurn(id, async () => {
      const describe = (copy: SessionHeader) => ({ ...copy, ...copyChanges(kind, rowOf(id), copy, request) });
      const source = live.get(id)?.row() ?? rowOf(id);
      return (await live.fork(source, { kind, describe })).view();
    });
  }

  async function children(id: string, { page_size = CHILDREN_PAGE_SIZE, ...query }: ChildrenQuery) {
    await index.ready();
    rowOf(id);
    return list({ ...query, page_size, parent: id });
  }

  async function updateProfile(id: string, body: ProfileUpdate): Promise<Session> {
    return live.use(id, async (session) => {
      const { title, metadata, agent_config } = body;
      const changes = agent_config ? agentChanges(agent_config) : [];
      // A turn of its own may follow, which nobody's prompt binds.
      if (agent_config?.goal_control === 'resume' && session.mainFacts().profile === undefined) {
        changes.unshift(...agentChanges({ model: deps.models.defaultModel() }));
      }
      if (title !== undefined || changes.length > 0) await session.log.claim();
      if (title !== undefined) {
        session.rename(title);
        live.persist(id);
      }
      const added = metadata ? customMetadata(metadata) : {};
      if (Object.keys(added).length > 0) {
        await live.patch(id, ({ custom }) => ({ custom: { ...custom, ...added }, updatedAt: clock.now() }));
      }
      for (const change of changes) {
        if (change.model !== undefined) {
          deps.models.assertConfigured(change.model);
          // An agent that has no profile yet gets one with its model.
          const { profiles } = await session.context.program.lookAtProfiles(session.context);
          change.profile = profiles.get(DEFAULT_PROFILE);
        }
        const alias = session.mainFacts().model;
        if (change.thinking !== undefined && alias !== undefined)
          deps.models.assertEffort(alias, change.thinking, 'agent_config.thinking');
        if (change.permission) await session.agents.setPermission(change.permission);
        else await session.agents.main.context.config.change(change);
      }
      if (agent_config) {
        const { main } = session.agents;
        for (const feature of session.context.features) await feature.configure?.(main.context, agent_config);
      }
      return session.view();
    });
  }

  async function switchRuntime(id: string, runtimeId: string): Promise<RuntimeBinding> {
    return live.use(id, async (session) => {
      const { workspace_id, runtime_id } = runtimeOf(session);
      if (runtimeId !== LOCAL_RUNTIME) {
        throw new ServiceError('runtime.not_found', `runtime ${runtimeId} does not exist in workspace ${workspace_id}`);
      }
      if (runtime_id !== runtimeId) {
        await session.log.claim();
        await session.agents.main.context.config.change({ runtimeId });
      }
      return runtimeOf(session);
    });
  }

  /** Only the server that runs a turn can end it. */
  async function abortTurn(id: string): Promise<{ aborted: true }> {
    return live.use(id, async ({ log, agents }) => {
      await log.assertNotHeld();
      agents.main.cancelTurn();
      return { aborted: true };
    });
  }

  async function compact(id: string, instruction = ''): Promise<Record<never, never>> {
    return live.use(id, async ({ log, context }) => {
      await log.claim();
      context.feature(compaction).start(instruction.trim() || undefined);
      return {};
    });
  }

  async function sideConversation(id: string): Promise<{ agent_id: string }> {
    return live.use(id, async (session) => {
      await deps.models.assertReady(session.mainFacts().model);
      await session.log.claim();
      return { agent_id: await openSideConversation(session.context, deps.models.defaultModel()) };
    });
  }

  async function abort(id: string, promptId: string): Promise<{ aborted: true; at_seq: number }> {
    return live.use(id, async ({ log, agents }) => {
      await log.assertNotHeld();
      const at_seq = log.position().seq;
      agents.abortPrompt(promptId);
      return { aborted: true, at_seq };
    });
  }

  async function steer(id: string, promptIds: readonly string[]): Promise<void> {
    await live.use(id, async ({ log, agents }) => {
      await log.assertNotHeld();
      agents.steer(promptIds);
    });
  }

  async function undo(id: string, { count = 1, page_size }: UndoRequest): Promise<Undone> {
    return live.use(id, async (session) => {
      await undoTurns(session.context, count, promptText);
      const { contextMessages, status } = createSessionReader(session, deps);
      // As of one moment: nothing is awaited between the two.
      const [messages, rollup] = [contextMessages(page_size), status()];
      return { messages: await messages, status: rollup };
    });
  }

  async function archive(id: string): Promise<{ archived: true }> {
    return live.inTurn(id, async () => {
      const row = rowOf(id);
      if (row.archived) return { archived: true };
      await live.patch(id, () => ({ archived: true, archivedAt: clock.now() }));
      await live.unload(id, 'archive');
      deps.announceArchived(id, row.workspaceId);
      return { archived: true };
    });
  }

  async function restore(id: string): Promise<Session> {
    // First, so that a session that cannot be loaded stays archived.
    await live.open(id);
    if (rowOf(id).archived)
      await live.inTurn(id, () => live.patch(id, () => ({ archived: false, archivedAt: undefined })));
    return live.use(id, (session) => session.view());
  }

  async function tools(id: string | undefined): Promise<ToolDescriptor[]> {
    if (id === undefined) await index.ready();
    const chosen = id ?? index.newestId();
    const session = chosen === undefined ? undefined : live.get(chosen);
    if (!session) return [];
    return session.agents.main.tools().map(({ tool: { name, description }, active }) => {
      const server = serverOfTool(name);
      return {
        name,
        description,
        input_schema: null,
        source: isMcpTool(name) ? 'mcp' : 'builtin',
        ...(server === undefined ? {} : { mcp_server_id: server }),
        active,
      };
    });
  }

  const streams: StreamSource = {
    async exists(id) {
      await index.ready();
      return index.get(id) !== undefined;
    },
    async position(id): Promise<StreamPosition> {
      const row = rowOf(id);
      const dir = live.directory(row);
      // What runs elsewhere goes on there; what a dead server left open is settled, so that events tell of it.
      if (row.open && !live.get(id) && !(await lockOwner(dir, deps.holder))) await live.open(id);
      return live.get(id)?.log.position() ?? readPosition(dir);
    },
    livePosition: (id) => live.get(id)?.log.position(),
    replay(id, after, upTo) {
      return live.get(id)?.log.replay(after, upTo) ?? replayCold(live.directory(rowOf(id)), after, upTo);
    },
  };

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
    read,
    transcript,
    use: live.use,
    workDirectory: (id) =>
      live.use(id, ({ context }) => ({
        workspaceId: context.workspaceId,
        root: context.cwd,
        additionalDirs: context.program.reach(context).additionalDirs,
      })),
    async ifLoaded(id, work) {
      await index.ready();
      rowOf(id);
      return live.ifLoaded(id, work);
    },
    submit: (id, body) => submitPrompt(id, body, { models: deps.models, uploads: deps.uploads, use: live.use }),
    updateProfile,
    switchRuntime,
    abortTurn,
    compact,
    openSideConversation: sideConversation,
    undo,
    fork: (id, request) => copyOf(id, 'fork', request),
    createChild: (id, request) => copyOf(id, 'child', request),
    children,
    archive,
    export: createSessionExport({ ...deps, live }),
    restore,
    liveRow: (id) => live.get(id)?.row(),
    tools,
    mcpServers: createSessionMcpServers(live),
    streams,
    followers,
    abort,
    steer,
    startRecovery: recovery.start,
    async close() {
      await recovery.close();
      await live.close();
    },
  };
}

const followed = ({ id, log, transcripts }: LiveSession): FollowedSession => ({
  id,
  transcripts,
  load: log.load,
  position: log.position,
});

/** What an update applies of `agent_config`, in this order; an empty model is none. */
function agentChanges({ model, thinking, permission_mode }: AgentConfigRequest): AgentChange[] {
  return [
    ...(model ? [{ model }] : []),
    ...(thinking === undefined ? [] : [{ thinking }]),
    ...(permission_mode ? [{ permission: permission_mode }] : []),
  ];
}
