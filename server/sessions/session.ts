/** A session that is loaded in this process: its journal, its main agent and what clients read of it. */
import { cutText } from '#server/bounded-text.ts';
import { createAgent, type Agent } from '#server/agent/agent.ts';
import type { AgentContext } from '#server/agent/context.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { newUlid } from '#server/ids.ts';
import { readContext } from '#server/journal/projections/context.ts';
import { noUsage } from '#server/journal/projections/usage.ts';
import { event, type Draft } from '#server/journal/records.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import type { Message, Snapshot } from '#schema/message.ts';
import type { Session, SessionStatus } from '#schema/session.ts';
import type { Approvals } from '#server/agent/approvals.ts';
import { TITLE_CHARS } from './prompt-text.ts';
import type { SessionRow } from './session-row.ts';
import { sessionView } from './session-view.ts';
import { idleFacts, type WorkState } from '#server/agent/work-state.ts';

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
  readonly main: Agent;
  readonly approvals: Approvals;
  readonly work: WorkState;
  /** The present row; `stored` spares the look into the index, where the cold facts are. */
  row(stored?: SessionRow): SessionRow;
  view(stored?: SessionRow): Session;
  status(): SessionStatus;
  snapshot(): Promise<Snapshot>;
  /** Newest first (core.md §7.3). */
  messages(query: MessageQuery): Promise<{ items: Message[]; has_more: boolean }>;
  /** Throws 40403. */
  message(id: string): Promise<Message>;
  runtime(): { workspace_id: string; runtime_id: string };
  disabledTools(): readonly string[];
  newPromptId(): string;
  /** `session.meta.updated` of an accepted prompt; the first one also names an untitled session. */
  promptAccepted(text: string): Draft[];
  /** Stores a custom title as sent; the lock must be held. */
  rename(title: string): Promise<void>;
}

export interface LiveSessionDeps {
  log: SessionLog;
  approvals: Approvals;
  work: WorkState;
  row(stored?: SessionRow): SessionRow;
  host: AgentContext;
  /** Context limit of the configured default model, for sessions without one of their own. */
  defaultLimit(): number | undefined;
}

/** Puts a loaded session together. */
export function createLiveSession(deps: LiveSessionDeps): LiveSession {
  const { log, approvals, work } = deps;
  const main = createAgent(deps.host);
  const id = log.sessionId;
  const history = () => log.state.messages.history;

  function view(stored?: SessionRow): Session {
    const row = deps.row(stored);
    const facts = work.facts();
    // What another process runs has ended when the index says so, even if nothing was read of it since.
    const over = facts.busy && !log.claimed && !row.open;
    return sessionView(row, over ? { ...idleFacts, last_turn_reason: row.lastTurnReason } : facts);
  }

  function limit(): number | undefined {
    const { model, maxContextTokens } = main.facts();
    return model === undefined ? deps.defaultLimit() : maxContextTokens;
  }

  return {
    id,
    log,
    main,
    approvals,
    work,
    row: deps.row,
    view,

    status() {
      const facts = main.facts();
      const max = limit();
      return {
        busy: work.facts().busy,
        ...(facts.model === undefined ? {} : { model: facts.model }),
        thinking_level: facts.effort,
        permission: facts.permission,
        plan_mode: false,
        swarm_mode: false,
        context_tokens: facts.contextTokens,
        ...(max ? { max_context_tokens: max, context_usage: Math.min(1, facts.contextTokens / max) } : {}),
      };
    },

    async snapshot() {
      const { seq, epoch } = log.position();
      const facts = main.facts();
      const usage = log.state.usage.get('main')?.total ?? noUsage();
      const max = limit();
      const all = history();
      const items = all.slice(-SNAPSHOT_MESSAGES);
      const inFlight = main.inFlight();
      return {
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
        messages: { items: await log.load(items), has_more: all.length > items.length },
        in_flight_turn: inFlight,
        subagents: [],
        pending_approvals: approvals.pending(),
        pending_questions: [],
      };
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
      runtime_id: readContext(log.state.context, 'main').config.runtimeId ?? LOCAL_RUNTIME,
    }),
    disabledTools: () => readContext(log.state.context, 'main').disabledTools,
    newPromptId: () => `msg_${newUlid()}`,

    promptAccepted(text) {
      const title = log.state.index.title === '' && text !== '' ? provisionalTitle(text) : undefined;
      const patch = { ...(title === undefined ? {} : { title, isCustomTitle: false }), lastPrompt: text };
      return [
        event(
          'main',
          'session.meta.updated',
          { ...(title === undefined ? {} : { title }), patch },
          title === undefined ? undefined : { titleKind: 'replaceable' },
        ),
      ];
    },

    async rename(title) {
      log.append([
        event(
          'main',
          'session.meta.updated',
          { title, patch: { title, isCustomTitle: true } },
          { titleKind: 'custom' },
        ),
      ]);
      await log.flushed();
    },
  };
}

const provisionalTitle = (text: string) => cutText(text, TITLE_CHARS);
