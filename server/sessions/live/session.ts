/** A session that is loaded in this process: its journal, its agents, its features. */
import { cutText } from '#server/text/truncate.ts';
import type { UnloadReason } from '#server/agent/contract/feature.ts';
import { newUlid } from '#server/ids.ts';
import { idleActivity, workStatus } from '#server/journal/projections/activity.ts';
import { readContext } from '#server/journal/projections/context.ts';
import { event, type Draft } from '#server/journal/records.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { Session } from '#schema/rest/session.ts';
import { SETTINGS_CHANGED } from '#schema/rest/settings-change.ts';
import { TITLE_CHARS } from '../index/prompt-text.ts';
import { changeText, ranCommand, type GuardedChange } from './change-warning.ts';
import { sessionOfHeader, type SessionHeader } from '../index/session-header.ts';
import { isAtWork, openSessionParts, type SessionParts, type SessionPartsDeps } from './session-parts.ts';
import type { ReadableSession } from '../reading/session-place.ts';
import { agentView, mainView, type AgentView, type LiveOverlay } from '../reading/session-views.ts';

export interface LiveSession extends ReadableSession, Pick<SessionParts, 'agents' | 'approvals' | 'context'> {
  readonly log: SessionLog;
  readonly transcripts: SessionParts['transcripts'];
  /** Creates the parts now instead of at their first use, because features may have scheduled work. */
  open(): void;
  /** See `Sessions.warnOfChange`; the change was made after `since` (ms). */
  warnOfChange(change: GuardedChange, since: number): Promise<void>;
  /** Cancels every running turn. */
  cancelTurns(): void;
  /** Whether an operation is running or pending, so that the session must stay loaded. */
  holds(): boolean;
  /** Releases the transcripts unless they were opened after `time` (ms) or have followers. */
  releaseTranscripts(time: number): void;
  /** Whether a feature wants the idle session to stay loaded, such as for scheduled jobs. */
  keeps(): boolean;
  /** Called before eviction although a feature wants the session loaded; the feature records that. */
  dropped(): Promise<void>;
  /** The row at the time of loading. */
  readonly loaded: SessionHeader;
  /**
   * Returns the present row; `stored` replaces the read of the index row, which has the members that no journal has.
   */
  row(stored?: SessionHeader): SessionHeader;
  view(stored?: SessionHeader): Session;
  readonly overlay: LiveOverlay;
  mainView(): AgentView;
  /** The alias of the model that the main agent is bound to; undefined before its first use. */
  boundModel(): string | undefined;
  agentView(id: string): AgentView;
  /** Binds agents that have the first model to the second. Throws `session.busy`, `persistence.failure`. */
  replaceModel(from: string, to: string): Promise<void>;
  disabledTools(): readonly string[];
  newPromptId(): string;
  /** `session.meta.updated` of an accepted prompt; the first one also names an untitled session. */
  promptAccepted(text: string): Draft[];
  /** Stores a custom title as sent; the lock must be held. Throws `persistence.failure`. */
  rename(title: string): void;
  /**
   * Stores a generated title unless the title is a custom one and `force` is not set; the lock must be held. Returns
   * whether it was stored. Throws `persistence.failure`.
   */
  nameGenerated(title: string, options: { force: boolean }): boolean;
  /** Cancels running operations; returns the records of the agents' closing, for the journal's last line. */
  end(reason: UnloadReason): Promise<Draft[]>;
}

export interface LiveSessionDeps extends SessionPartsDeps {
  loaded: SessionHeader;
  row(stored?: SessionHeader): SessionHeader;
  /** Publishes the session's buffered stream events, which wait to be coalesced. */
  flushEvents(): void;
}

const ends = {
  exit: { disposed: 'closed', message: 'server stopping' },
  archive: { disposed: 'archived', message: 'session archived' },
  idle: { disposed: 'evicted', message: 'session unloaded' },
} as const;

/**
 * Creates a loaded session. Its parts are created at their first use, so that a new session costs only its journal and
 * its row.
 */
export function createLiveSession(deps: LiveSessionDeps): LiveSession {
  const { log, services } = deps;
  let made: SessionParts | undefined;
  let ended = false;
  const parts = () => (made ??= openSessionParts(deps));
  /**
   * The parts for readers, which do not keep the session loaded: none are created after the end, as they would not be
   * released.
   */
  const shown = () => (ended ? made : parts());

  const activity = () => workStatus(log.state.activity, log.held);

  function view(stored?: SessionHeader): Session {
    const row = deps.row(stored);
    const facts = activity();
    // The index row may have the end of a turn in another process before its records are read here.
    const over = facts.busy && !log.claimed && !row.open;
    return sessionOfHeader(row, over ? { ...workStatus(idleActivity()), last_turn_reason: row.lastTurnReason } : facts);
  }

  return {
    id: deps.place.id,
    log,
    get state() {
      return log.state;
    },
    position: log.position,
    load: log.load,
    readMessages: log.readMessages,
    overlay: {
      inFlight: () => shown()?.agents.main.inFlight() ?? null,
      warnings() {
        const { agents, features = [] } = shown() ?? {};
        const own = agents?.main.context.config.warnings() ?? [];
        return [...own, ...features.flatMap((feature) => feature.warnings?.() ?? [])];
      },
      sections() {
        const { features = [] } = shown() ?? {};
        return features.flatMap((feature) => feature.snapshot?.() ?? []);
      },
      flushEvents: deps.flushEvents,
    },
    get agents() {
      return parts().agents;
    },
    get approvals() {
      return parts().approvals;
    },
    get transcripts() {
      return parts().transcripts;
    },
    get context() {
      return parts().context;
    },
    open: () => void parts(),
    async warnOfChange(change, since) {
      if (!made || ended || !(await ranCommand(made.context.tasks, since)) || ended) return;
      log.attempt([event(MAIN_AGENT, 'warning', { code: SETTINGS_CHANGED, message: changeText(change) })]);
    },
    cancelTurns: () => made?.agents.cancelTurns(),
    activity,
    holds: () => log.held || (made !== undefined && isAtWork(made)),
    releaseTranscripts: (time) => made?.transcripts.releaseUnread(time),
    keeps: () => made !== undefined && made.features.some((feature) => feature.wantsLoaded?.() === true),
    async dropped() {
      for (const feature of made?.features ?? []) if (feature.wantsLoaded?.()) await feature.onEvict?.();
    },
    loaded: deps.loaded,
    row: deps.row,
    view,

    mainView: () => mainView(log.state, services),
    boundModel: () => readContext(log.state.context, MAIN_AGENT).config.model,
    agentView: (agentId) => agentView(log.state, agentId, services),
    async replaceModel(from, to) {
      if (ended || ![...log.state.context.agents.values()].some(({ config }) => config.model === from)) return;
      await log.claim();
      await parts().agents.replaceModel(from, to);
    },
    disabledTools: () => readContext(log.state.context, MAIN_AGENT).disabledTools,
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

    nameGenerated(title, { force }) {
      if (!force && log.state.index.titleKind === 'custom') return false;
      log.append([
        event(
          MAIN_AGENT,
          'session.meta.updated',
          { title, patch: { title, isCustomTitle: false } },
          { titleKind: 'generated' },
        ),
      ]);
      return true;
    },

    async end(reason) {
      ended = true;
      if (!made) return [];
      const { agents, tasks, transcripts, features } = made;
      const { disposed, message } = ends[reason];
      const [drafts] = await Promise.all([agents.close(disposed, message), tasks.close(reason)]);
      transcripts.close();
      for (const feature of features) await feature.onUnload?.(reason);
      return drafts;
    },
  };
}

const provisionalTitle = (text: string) => cutText(text, TITLE_CHARS);
