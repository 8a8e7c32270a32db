/** A session that is loaded in this process: its journal, its agents, its features. */
import { dirname, join } from 'node:path';
import { cutText } from '#server/bounded-text.ts';
import type { AgentProgram, SessionContext, SessionPlace } from '#server/agent/context.ts';
import type { Feature, LiveFeature, UnloadReason } from '#server/agent/feature.ts';
import { createRoster, type Roster } from '#server/agent/roster.ts';
import type { Clock } from '#server/clock.ts';
import { newUlid } from '#server/ids.ts';
import { createApprovals, type Approvals } from '#server/interactions/approvals.ts';
import { createInteractions } from '#server/interactions/interactions.ts';
import { idleActivity, workFacts } from '#server/journal/projections/activity.ts';
import { readContext } from '#server/journal/projections/context.ts';
import { event, type Draft } from '#server/journal/records.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import { createTasks } from '#server/tasks/tasks.ts';
import { createLiveTranscripts, type LiveTranscripts, type LiveTranscriptsDeps } from '#server/transcript/live.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { Session } from '#schema/session.ts';
import { TITLE_CHARS } from './prompt-text.ts';
import { sessionOfHeader, type SessionHeader } from './session-header.ts';
import { agentFacts, mainFacts, type AgentFacts, type LiveOverlay, type SessionSource } from './session-views.ts';

export interface LiveSession extends SessionSource {
  readonly log: SessionLog;
  readonly agents: Roster;
  readonly approvals: Approvals;
  readonly context: SessionContext;
  /** Something of it runs or waits, so that it must stay loaded. */
  holds(): boolean;
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
  readonly transcripts: LiveTranscripts;
  mainFacts(): AgentFacts;
  agentFacts(id: string): AgentFacts;
  disabledTools(): readonly string[];
  newPromptId(): string;
  /** `session.meta.updated` of an accepted prompt; the first one also names an untitled session. */
  promptAccepted(text: string): Draft[];
  /** Stores a custom title as sent; the lock must be held. Throws 50003. */
  rename(title: string): void;
  /** Ends what runs; returns the records of the agents' ends, for the journal's last line. */
  end(reason: UnloadReason): Promise<Draft[]>;
}

export interface LiveSessionDeps {
  place: SessionPlace;
  log: SessionLog;
  program: AgentProgram;
  features: readonly Feature[];
  loaded: SessionHeader;
  row(stored?: SessionHeader): SessionHeader;
  clock: Clock;
  /** What transcripts are made with. */
  transcripts: Pick<LiveTranscriptsDeps, 'mapper' | 'journals' | 'known'>;
  changed(): void;
  report(what: string, error: unknown): void;
  /** Hands over the session's events that wait to be joined. */
  flushEvents(): void;
}

/** Nothing else names a folder beside this one's. */
const SESSION_ID = /^session_[\w-]+$/;

const ends = {
  exit: { disposed: 'closed', message: 'server stopping' },
  archive: { disposed: 'archived', message: 'session archived' },
  idle: { disposed: 'evicted', message: 'session unloaded' },
} as const;

/** Puts a loaded session together. */
export function createLiveSession(deps: LiveSessionDeps): LiveSession {
  const { log, place, program, clock } = deps;
  const { id } = place;
  const interactions = createInteractions({ log, clock });
  const approvals = createApprovals(id, interactions, clock);
  const tasks = createTasks({
    log,
    dir: place.dir,
    clock,
    settings: program.tasks,
    known: (taskId) => log.state.tasks.tasks.has(taskId),
    report: deps.report,
  });
  const features = openFeatures(deps.features);
  const context: SessionContext = {
    ...place,
    log,
    interactions,
    approvals,
    tasks,
    program,
    clock,
    wake: (agentId, next) =>
      agents
        .all()
        .find((agent) => agent.id === agentId)
        ?.context.wake(next),
    archived: () => deps.row().archived,
    changed: deps.changed,
    report: deps.report,
    get ancestorDirs() {
      const ids = log.state.status.ancestors.filter((ancestor) => SESSION_ID.test(ancestor));
      return ids.map((ancestor) => join(dirname(place.dir), ancestor));
    },
    features: features.all,
    feature: features.get,
    get agents() {
      return agents;
    },
  };
  const agents: Roster = createRoster(context);
  features.open(context);
  const { main } = agents;

  const transcripts = createLiveTranscripts({
    ...deps.transcripts,
    log,
    clock,
    untold: () => agents.all().flatMap((agent) => agent.untold().map((fact) => ({ agent: agent.id, fact }))),
  });

  const activity = () => workFacts(log.state.activity, log.held);

  function view(stored?: SessionHeader): Session {
    const row = deps.row(stored);
    const facts = activity();
    // What another process runs has ended when the index says so, even if nothing was read of it since.
    const over = facts.busy && !log.claimed && !row.open;
    return sessionOfHeader(row, over ? { ...workFacts(idleActivity()), last_turn_reason: row.lastTurnReason } : facts);
  }

  return {
    id,
    log,
    get state() {
      return log.state;
    },
    position: log.position,
    load: log.load,
    readMessages: log.readMessages,
    overlay: {
      inFlight: main.inFlight,
      warnings: () => [
        ...main.context.config.warnings(),
        ...features.all.flatMap((feature) => feature.warnings?.() ?? []),
      ],
      sections: () => features.all.flatMap((feature) => feature.snapshot?.() ?? []),
      flushEvents: deps.flushEvents,
    },
    agents,
    approvals,
    transcripts,
    context,
    activity,
    holds: () =>
      log.held ||
      !agents.idle() ||
      interactions.pending() ||
      tasks.running() ||
      features.all.some((feature) => feature.holds?.() === true),
    keeps: () => features.all.some((feature) => feature.keeps?.() === true),
    async dropped() {
      for (const feature of features.all) if (feature.keeps?.()) await feature.dropped?.();
    },
    loaded: deps.loaded,
    row: deps.row,
    view,

    mainFacts: () => mainFacts(log.state, program),
    agentFacts: (agentId) => agentFacts(log.state, agentId, program),
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
      const { disposed, message } = ends[reason];
      const [drafts] = await Promise.all([agents.close(disposed, message), tasks.close(reason)]);
      transcripts.close();
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
