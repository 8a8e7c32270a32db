/** A session that is loaded in this process: its journal, its agents, its features and what clients read of it. */
import { cutText } from '#server/bounded-text.ts';
import type { AgentProgram, SessionContext, SessionPlace } from '#server/agent/context.ts';
import type { Feature, LiveFeature, UnloadReason } from '#server/agent/feature.ts';
import { createRoster, type Roster } from '#server/agent/roster.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { newUlid } from '#server/ids.ts';
import { createApprovals, type Approvals } from '#server/interactions/approvals.ts';
import { createInteractions } from '#server/interactions/interactions.ts';
import { contextSize } from '#server/journal/context-size.ts';
import { idleActivity, workFacts, type WorkFacts } from '#server/journal/projections/activity.ts';
import { readContext } from '#server/journal/projections/context.ts';
import { noUsage } from '#server/journal/projections/usage.ts';
import { event, type Draft } from '#server/journal/records.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { Approval } from '#schema/interaction.ts';
import type { Message, Snapshot } from '#schema/message.ts';
import type { PermissionMode } from '#schema/scalars.ts';
import type { Session, SessionStatus, SessionWarning } from '#schema/session.ts';
import { TITLE_CHARS } from './prompt-text.ts';
import { sessionOfHeader, type SessionHeader } from './session-header.ts';

const SNAPSHOT_MESSAGES = 100;
const DEFAULT_PAGE = 50;
const LOCAL_RUNTIME = 'local';

export interface MessageQuery {
  before_id?: string | undefined;
  after_id?: string | undefined;
  page_size?: number | undefined;
  role?: Message['role'] | undefined;
}

export interface LiveSession {
  readonly id: string;
  readonly log: SessionLog;
  readonly agents: Roster;
  readonly approvals: Approvals;
  readonly context: SessionContext;
  /** What clients read of its activity. */
  activity(): WorkFacts;
  /** Something of it runs or waits, so that it must stay loaded. */
  holds(): boolean;
  /** The present row; `stored` spares the look into the index, where the cold facts are. */
  row(stored?: SessionHeader): SessionHeader;
  view(stored?: SessionHeader): Session;
  status(): SessionStatus;
  snapshot(): Promise<Snapshot>;
  /** Newest first. */
  messages(query: MessageQuery): Promise<{ items: Message[]; has_more: boolean }>;
  /** Throws 40403. */
  message(id: string): Promise<Message>;
  runtime(): { workspace_id: string; runtime_id: string };
  warnings(): SessionWarning[];
  pendingApprovals(): Approval[];
  /** Facts of the main agent's fold, also before it was ever used. */
  mainFacts(): AgentFacts;
  disabledTools(): readonly string[];
  newPromptId(): string;
  /** `session.meta.updated` of an accepted prompt; the first one also names an untitled session. */
  promptAccepted(text: string): Draft[];
  /** Stores a custom title as sent; the lock must be held. Throws 50003. */
  rename(title: string): void;
  /** Ends what runs; returns the records of the agents' ends, for the journal's last line. */
  end(reason: UnloadReason): Promise<Draft[]>;
}

export interface AgentFacts {
  model: string | undefined;
  effort: string;
  permission: PermissionMode;
  maxContextTokens: number | undefined;
  contextTokens: number;
  profile: string | undefined;
}

export interface LiveSessionDeps {
  place: SessionPlace;
  log: SessionLog;
  program: AgentProgram;
  features: readonly Feature[];
  row(stored?: SessionHeader): SessionHeader;
  now(): number;
  /** Ms that an approval or a question waits for its answer. */
  interactionLifetimeMs: number;
  changed(): void;
  report(what: string, error: unknown): void;
  /** Hands over the session's events that wait to be joined. */
  flushEvents(): void;
}

const ends = {
  exit: { disposed: 'closed', message: 'server stopping' },
  archive: { disposed: 'archived', message: 'session archived' },
  idle: { disposed: 'evicted', message: 'session unloaded' },
} as const;

/** Puts a loaded session together. */
export function createLiveSession(deps: LiveSessionDeps): LiveSession {
  const { log, place, program, now } = deps;
  const { id } = place;
  const interactions = createInteractions({ log, now, lifetimeMs: deps.interactionLifetimeMs });
  const approvals = createApprovals(id, interactions, now);
  const features = openFeatures(deps.features);
  const context: SessionContext = {
    ...place,
    log,
    interactions,
    approvals,
    program,
    now,
    changed: deps.changed,
    report: deps.report,
    features: features.all,
    feature: features.get,
  };
  features.open(context);
  const agents = createRoster(context);
  const { main } = agents;
  const history = () => log.state.messages.history;
  const mainState = () => readContext(log.state.context, MAIN_AGENT);

  const activity = () => workFacts(log.state.activity, log.held);

  function view(stored?: SessionHeader): Session {
    const row = deps.row(stored);
    const facts = activity();
    // What another process runs has ended when the index says so, even if nothing was read of it since.
    const over = facts.busy && !log.claimed && !row.open;
    return sessionOfHeader(row, over ? { ...workFacts(idleActivity()), last_turn_reason: row.lastTurnReason } : facts);
  }

  function mainFacts(): AgentFacts {
    const { config } = main.context;
    const { config: stored, bound } = mainState();
    return {
      model: config.model(),
      effort: (config.model() && stored.thinkingEffort) ?? '',
      permission: config.permission(),
      maxContextTokens: config.maxContextTokens(),
      contextTokens: contextSize(mainState()),
      profile: bound?.profile,
    };
  }

  const limit = ({ model, maxContextTokens }: AgentFacts) =>
    model === undefined ? program.defaultLimit() : maxContextTokens;

  const pendingApprovals = () => [...log.state.interactions.approvals.values()].map(({ approval }) => approval);

  return {
    id,
    log,
    agents,
    approvals,
    context,
    activity,
    holds: () => !agents.idle() || interactions.pending() || features.all.some((feature) => feature.holds?.() === true),
    row: deps.row,
    view,

    status() {
      const facts = mainFacts();
      const max = limit(facts);
      return Object.assign(
        {
          busy: activity().busy,
          ...(facts.model === undefined ? {} : { model: facts.model }),
          thinking_level: facts.effort,
          permission: facts.permission,
          plan_mode: false,
          swarm_mode: false,
          context_tokens: facts.contextTokens,
          ...(max ? { max_context_tokens: max, context_usage: Math.min(1, facts.contextTokens / max) } : {}),
        },
        ...deps.features.map((feature) => feature.status?.(log.state)),
      );
    },

    async snapshot() {
      // Text that is in here stands in no frame that ends behind it.
      deps.flushEvents();
      const { seq, epoch } = log.position();
      const facts = mainFacts();
      const usage = log.state.usage.get(MAIN_AGENT)?.total ?? noUsage();
      const max = limit(facts);
      const all = history();
      const items = all.slice(-SNAPSHOT_MESSAGES);
      const has_more = all.length > items.length;
      // All of it as of `seq`: what is read from files later is not looked at later.
      const snapshot: Snapshot = Object.assign(
        {
          as_of_seq: seq,
          epoch,
          session: {
            ...view(),
            agent_config: { model: facts.model ?? '' },
            usage: {
              input_tokens: usage.inputOther,
              output_tokens: usage.output,
              cache_read_tokens: usage.inputCacheRead,
              cache_creation_tokens: usage.inputCacheCreation,
              context_tokens: facts.contextTokens,
              ...(max ? { context_limit: max } : {}),
            },
          },
          messages: { items: [], has_more },
          in_flight_turn: main.inFlight(),
          subagents: [],
          pending_approvals: pendingApprovals(),
          pending_questions: [],
        },
        ...deps.features.map((feature) => feature.snapshot?.(log.state)),
      );
      return { ...snapshot, messages: { items: await log.load(items), has_more } };
    },

    async messages({ before_id, after_id, page_size = DEFAULT_PAGE, role }) {
      const all = history();
      const place = (cursor: string | undefined) =>
        cursor === undefined ? -1 : all.findIndex((message) => message.id === cursor);
      const before = place(before_id);
      const after = place(after_id);
      const window = before >= 0 ? all.slice(0, before) : after >= 0 ? all.slice(after + 1) : all;
      const matching = role ? window.filter((message) => message.role === role) : window;
      const items = matching.slice(-page_size).toReversed();
      return { items: await log.load(items), has_more: matching.length > items.length };
    },

    async message(messageId) {
      const message = history().find((one) => one.id === messageId);
      if (!message) throw new ServiceError('message.not_found', `message ${messageId} does not exist in session ${id}`);
      return log.load(message);
    },

    runtime: () => ({
      workspace_id: deps.row().workspaceId,
      runtime_id: mainState().config.runtimeId ?? LOCAL_RUNTIME,
    }),
    warnings: () => main.context.config.warnings(),
    pendingApprovals,
    mainFacts,
    disabledTools: () => mainState().disabledTools,
    newPromptId: () => `msg_${newUlid()}`,

    promptAccepted(text) {
      const title = log.state.index.title === '' && text !== '' ? provisionalTitle(text) : undefined;
      const patch = { ...(title === undefined ? {} : { title, isCustomTitle: false }), lastPrompt: text };
      return [
        event(
          MAIN_AGENT,
          'session.meta.updated',
          { ...(title === undefined ? {} : { title }), patch },
          title === undefined ? undefined : { titleKind: 'replaceable' },
        ),
      ];
    },

    rename(title) {
      log.append([
        event(
          MAIN_AGENT,
          'session.meta.updated',
          { title, patch: { title, isCustomTitle: true } },
          { titleKind: 'custom' },
        ),
      ]);
    },

    async end(reason) {
      const { disposed, message } = ends[reason];
      const drafts = await agents.close(disposed, message);
      for (const feature of features.all) await feature.release?.(reason);
      return drafts;
    },
  };
}

/** The features' parts in one session, in the order of the list. */
function openFeatures(list: readonly Feature[]) {
  const all: LiveFeature[] = [];
  const byFeature = new Map<Feature, LiveFeature>();
  return {
    all,
    open(context: SessionContext): void {
      for (const feature of list) {
        const live = feature.open?.(context);
        if (!live) continue;
        all.push(live);
        byFeature.set(feature, live);
      }
    },
    get<Live extends LiveFeature>(feature: Feature<Live>): Live {
      const live = byFeature.get(feature);
      if (!live) throw new Error(`the feature ${feature.name} is not in the list`);
      // It was made by this feature's own `open`.
      return live as Live;
    },
  };
}

const provisionalTitle = (text: string) => cutText(text, TITLE_CHARS);
