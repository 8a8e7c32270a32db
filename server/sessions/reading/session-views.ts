/**
 * Views of a session for clients: functions of its fold, the configuration and, if the session is loaded, of state that
 * only its process has. They are the same for a session that is only folded.
 */
import type { AgentDefaults, Feature } from '#server/agent/contract/feature.ts';
import type { StreamPosition } from '#server/events/frame.ts';
import { contextSize } from '#server/journal/context-size.ts';
import type { LogState } from '#server/journal/fold.ts';
import { mainTurnActive, type WorkStatus } from '#server/journal/projections/activity.ts';
import { readContext } from '#server/journal/projections/context.ts';
import { noUsage } from '#server/journal/projections/usage.ts';
import { costOf } from '#server/models/usage-cost.ts';
import { LOCAL_RUNTIME } from '#server/runtime/local.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { Approval } from '#schema/rest/interaction.ts';
import type { InFlightTurn, Message, Snapshot } from '#schema/rest/message.ts';
import type { PermissionMode } from '#schema/scalars.ts';
import type { RuntimeBinding, Session, SessionStatus, SessionWarning } from '#schema/rest/session.ts';
import {
  contextMessages,
  findMessage,
  pageOfMessages,
  placesBetween,
  type MessagePage,
  type MessageQuery,
  type MessageSource,
} from './message-page.ts';

const SNAPSHOT_MESSAGES = 100;

/** The source of a session's views. Its members are consistent with each other between two awaits. */
export interface SessionSource extends MessageSource {
  position(): StreamPosition;
  activity(): WorkStatus;
  /** The Session object. */
  view(): Session;
  /** State of a loaded session that is not in its fold; undefined for a cold one. */
  readonly overlay?: LiveOverlay;
}

/** State of a loaded session that is lost when its process exits. */
export interface LiveOverlay {
  /** The main agent's turn. */
  inFlight(): InFlightTurn | null;
  /** Warnings of the last read of the instruction files. */
  warnings(): SessionWarning[];
  /** Sections of the snapshot that features add. */
  sections(): Partial<Snapshot>[];
  /** Publishes the session's buffered stream events, which wait to be coalesced. */
  flushEvents(): void;
}

/** The part of the configuration that reads depend on. */
export interface ViewConfiguration {
  defaults: AgentDefaults;
  features: readonly Feature[];
}

/** Settings and context size of an agent, with defaults before its first use. */
export interface AgentView {
  model: string | undefined;
  effort: string;
  permission: PermissionMode;
  /** That of the default model while none is bound. */
  maxContextTokens: number | undefined;
  contextTokens: number;
  profile: string | undefined;
}

/** Reads one session. Each reply is consistent as of the call. */
export interface SessionReader {
  readonly state: LogState;
  view(): Session;
  status(): SessionStatus;
  snapshot(): Promise<Snapshot>;
  /** Newest first. */
  messages(query: MessageQuery): Promise<MessagePage>;
  /** The newest messages of the model's context, newest first. */
  contextMessages(pageSize?: number): Promise<MessagePage>;
  /** Throws `message.not_found`. */
  message(id: string): Promise<Message>;
  runtime(): RuntimeBinding;
  warnings(): SessionWarning[];
  approvals(): Promise<Approval[]>;
}

/** Returns the runtime that the main agent works on. */
export const runtimeOf = (source: SessionSource): RuntimeBinding => ({
  workspace_id: source.view().workspace_id,
  runtime_id: mainContext(source.state).config.runtimeId ?? LOCAL_RUNTIME,
});

/** Creates a reader; reads nothing yet. */
export function createSessionReader(source: SessionSource, configuration: ViewConfiguration): SessionReader {
  return {
    get state() {
      return source.state;
    },
    view: source.view,
    status: () => statusOf(source, configuration),
    snapshot: () => snapshotOf(source, configuration),
    messages: (query) => pageOfMessages(source, query),
    contextMessages: (pageSize) => contextMessages(source, pageSize),
    message: (id) => findMessage(source, id),
    runtime: () => runtimeOf(source),
    // None before the instruction files were read in this process.
    warnings: () => source.overlay?.warnings() ?? [],
    approvals: () => pendingApprovals(source),
  };
}

const mainContext = (state: LogState) => readContext(state.context, MAIN_AGENT);

/** Returns the pending approvals of all agents, oldest first. */
const pendingApprovals = ({ state, load }: SessionSource): Promise<Approval[]> =>
  load([...state.interactions.approvals.values()].map(({ approval }) => approval));

export const mainView = (state: LogState, defaults: AgentDefaults): AgentView => agentView(state, MAIN_AGENT, defaults);

export function agentView(state: LogState, agentId: string, defaults: AgentDefaults): AgentView {
  const context = readContext(state.context, agentId);
  const { config, bound } = context;
  return {
    model: config.model,
    effort: config.model === undefined ? '' : (config.thinkingEffort ?? ''),
    permission: config.permission ?? defaults.defaultPermission(),
    maxContextTokens: config.model === undefined ? defaults.defaultLimit() : (config.maxContextTokens ?? undefined),
    contextTokens: contextSize(context),
    profile: bound?.profile,
  };
}

/** The members of features precede the size of the context; the schema requires those of plan and swarm mode. */
function statusOf(source: SessionSource, { defaults, features }: ViewConfiguration): SessionStatus {
  const { model, effort, permission, contextTokens, maxContextTokens: max } = mainView(source.state, defaults);
  return Object.assign(
    {
      busy: source.activity().busy,
      ...(model === undefined ? {} : { model }),
      thinking_level: effort,
      permission,
    },
    ...features.map((feature) => feature.status?.(source.state, defaults)),
    {
      context_tokens: contextTokens,
      ...(max ? { max_context_tokens: max, context_usage: Math.min(1, contextTokens / max) } : {}),
    },
  );
}

async function snapshotOf(source: SessionSource, { defaults, features }: ViewConfiguration): Promise<Snapshot> {
  // Text that the snapshot contains must not be sent again in a frame after `as_of_seq`.
  source.overlay?.flushEvents();
  const { state } = source;
  const { seq, epoch } = source.position();
  const { model, contextTokens, maxContextTokens: limit } = mainView(state, defaults);
  const { total: usage = noUsage(), byModel = {} } = state.usage.get(MAIN_AGENT) ?? {};
  const cost = costOf(byModel, defaults.config.effective());
  const { length } = state.messages.history;
  const first = Math.max(0, length - SNAPSHOT_MESSAGES);
  // All members are read synchronously, as of `seq`; only immutable texts are read later.
  const snapshot: Snapshot = Object.assign(
    {
      as_of_seq: seq,
      epoch,
      session: {
        ...source.view(),
        agent_config: { model: model ?? '' },
        usage: {
          input_tokens: usage.inputOther,
          output_tokens: usage.output,
          cache_read_tokens: usage.inputCacheRead,
          cache_creation_tokens: usage.inputCacheCreation,
          ...(cost === undefined ? {} : { total_cost_usd: cost }),
          context_tokens: contextTokens,
          ...(limit ? { context_limit: limit } : {}),
        },
      },
      messages: { items: [], has_more: first > 0 },
      // The fold is updated before the agent when a turn ends.
      in_flight_turn: (mainTurnActive(state.activity) && source.overlay?.inFlight()) || null,
      subagents: [],
      pending_approvals: [],
      pending_questions: [],
    },
    ...features.map((feature) => feature.snapshot?.(state)),
    ...(source.overlay?.sections() ?? []),
  );
  const [items, pending_approvals] = await Promise.all([
    source.readMessages(placesBetween(first, length)),
    pendingApprovals(source),
  ]);
  return { ...snapshot, messages: { ...snapshot.messages, items }, pending_approvals };
}
