/** A session that is loaded in this process: its journal, its agents, its features. */
import { cutText } from '#server/text/truncate.ts';
import type { UnloadReason } from '#server/agent/contract/feature.ts';
import { newUlid } from '#server/ids.ts';
import { idleActivity, workFacts } from '#server/journal/projections/activity.ts';
import { readContext } from '#server/journal/projections/context.ts';
import { event, type Draft } from '#server/journal/records.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { Session } from '#schema/session.ts';
import { SETTINGS_CHANGED } from '#schema/settings-change.ts';
import { TITLE_CHARS } from './prompt-text.ts';
import { changeText, ranCommand, type GuardedChange } from './change-warning.ts';
import { sessionOfHeader, type SessionHeader } from './session-header.ts';
import { isAtWork, openSessionParts, type SessionParts, type SessionPartsDeps } from './session-parts.ts';
import { agentFacts, mainFacts, type AgentFacts, type LiveOverlay, type SessionSource } from './session-views.ts';

export interface LiveSession
  extends SessionSource, Pick<SessionParts, 'agents' | 'approvals' | 'context' | 'transcripts'> {
  readonly log: SessionLog;
  /** Makes what works in it, as its first use does otherwise: something of it may be to come. */
  open(): void;
  /** See `Sessions.warnOfChange`; the change was made after `since` (ms). */
  warnOfChange(change: GuardedChange, since: number): Promise<void>;
  /** Cancels every running turn. */
  cancelTurns(): void;
  /** Something of it runs or waits, so that it must stay loaded. */
  holds(): boolean;
  /** Releases its transcripts unless they were opened after `time` (ms) or have followers. */
  releaseTranscripts(time: number): void;
  /** Something of it is to come, for which it should stay loaded. */
  keeps(): boolean;
  /** It should, and cannot: whoever wanted it tells of that. */
  dropped(): Promise<void>;
  /** The row as it was when the session was loaded. */
  readonly loaded: SessionHeader;
  /** The present row; `stored` spares the look into the index, where the cold facts are. */
  row(stored?: SessionHeader): SessionHeader;
  view(stored?: SessionHeader): Session;
  readonly overlay: LiveOverlay;
  mainFacts(): AgentFacts;
  agentFacts(id: string): AgentFacts;
  disabledTools(): readonly string[];
  newPromptId(): string;
  /** `session.meta.updated` of an accepted prompt; the first one also names an untitled session. */
  promptAccepted(text: string): Draft[];
  /** Stores a custom title as sent; the lock must be held. Throws `persistence.failure`. */
  rename(title: string): void;
  /** Ends what runs; returns the records of the agents' ends, for the journal's last line. */
  end(reason: UnloadReason): Promise<Draft[]>;
}

export interface LiveSessionDeps extends Omit<SessionPartsDeps, 'archived'> {
  loaded: SessionHeader;
  row(stored?: SessionHeader): SessionHeader;
  /** Hands over the session's events that wait to be joined. */
  flushEvents(): void;
}

const ends = {
  exit: { disposed: 'closed', message: 'server stopping' },
  archive: { disposed: 'archived', message: 'session archived' },
  idle: { disposed: 'evicted', message: 'session unloaded' },
} as const;

/**
 * Puts a loaded session together. What works in it is made at its first use: one that is only created costs its journal
 * and its row.
 */
export function createLiveSession(deps: LiveSessionDeps): LiveSession {
  const { log, services } = deps;
  let made: SessionParts | undefined;
  let ended = false;
  const parts = () => (made ??= openSessionParts({ ...deps, archived: () => deps.row().archived }));
  /** For readers, who do not keep the session loaded: nothing is made that nobody would release. */
  const shown = () => (ended ? made : parts());

  const activity = () => workFacts(log.state.activity, log.held);

  function view(stored?: SessionHeader): Session {
    const row = deps.row(stored);
    const facts = activity();
    // What another process runs has ended when the index says so, even if nothing was read of it since.
    const over = facts.busy && !log.claimed && !row.open;
    return sessionOfHeader(row, over ? { ...workFacts(idleActivity()), last_turn_reason: row.lastTurnReason } : facts);
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

    mainFacts: () => mainFacts(log.state, services),
    agentFacts: (agentId) => agentFacts(log.state, agentId, services),
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
