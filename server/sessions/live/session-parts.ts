/** The parts of a loaded session: its agents, its features, and the services that they share. */
import { dirname, join } from 'node:path';
import type { SessionContext, SessionLocation } from '#server/agent/contract/context.ts';
import type { Feature, FeatureServices, LiveFeature } from '#server/agent/contract/feature.ts';
import { createRoster } from '#server/agent/roster.ts';
import type { Clock } from '#server/clock.ts';
import { createApprovals, type Approvals } from '#server/interactions/approvals.ts';
import { createInteractions, type Interactions } from '#server/interactions/interactions.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import { createTasks, type Tasks } from '#server/tasks/tasks.ts';
import type { SessionHeader } from '../index/session-header.ts';
import { createLiveTranscripts, type LiveTranscripts, type LiveTranscriptsDeps } from '#server/transcript/live.ts';
import type { AgentServices } from '#server/agent/contract/services.ts';
import type { Roster } from '#server/agent/contract/agent.ts';

export interface SessionParts {
  readonly approvals: Approvals;
  readonly tasks: Tasks;
  readonly interactions: Interactions;
  readonly features: readonly LiveFeature[];
  readonly agents: Roster;
  readonly context: SessionContext;
  readonly transcripts: LiveTranscripts;
}

export interface SessionPartsDeps extends Pick<SessionContext, 'modeChanged'> {
  place: SessionLocation;
  log: SessionLog;
  services: AgentServices;
  featureServices: FeatureServices;
  features: readonly Feature[];
  clock: Clock;
  /** Dependencies of the transcripts. */
  transcripts: Pick<LiveTranscriptsDeps, 'mapper' | 'journals' | 'known'>;
  /** The session's present row. */
  row(): SessionHeader;
  changed(): void;
  report(what: string, error: unknown): void;
}

/** Ids of ancestors become folder names next to this session's folder, so any other form is rejected. */
const SESSION_ID = /^session_[\w-]+$/;

/** Creates the parts over an open journal; appends no record. */
export function openSessionParts(deps: SessionPartsDeps): SessionParts {
  const { log, place, services, clock } = deps;
  const { mapper, journals, known } = deps.transcripts;
  const interactions = createInteractions({ log, clock });
  const approvals = createApprovals(place.id, interactions, clock);
  const tasks = createTasks({
    log,
    dir: place.dir,
    clock,
    settings: services.tasks,
    known: (taskId) => log.state.tasks.tasks.has(taskId),
    report: deps.report,
  });
  let clientDirs: readonly string[] = [];
  const features = openFeatures(deps.features, deps.featureServices);
  const context: SessionContext = {
    ...place,
    log,
    interactions,
    approvals,
    tasks,
    services,
    config: services.config,
    clock,
    wake: (agentId, next) =>
      agents
        .all()
        .find((agent) => agent.id === agentId)
        ?.context.wake(next),
    clientDirs: () => clientDirs,
    setClientDirs: (dirs) => void (clientDirs = dirs),
    archived: () => deps.row().archived,
    changed: deps.changed,
    modeChanged: deps.modeChanged,
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
  const transcripts = createLiveTranscripts({
    mapper,
    journals,
    known,
    log,
    clock,
    unrecorded: () => agents.all().flatMap((agent) => agent.unrecorded().map((event) => ({ agent: agent.id, event }))),
  });
  return { approvals, tasks, interactions, features: features.all, agents, context, transcripts };
}

/** Whether a turn, an interaction, a task or a feature's operation is running or pending. */
export const isAtWork = ({ agents, interactions, tasks, features }: SessionParts): boolean =>
  !agents.idle() ||
  interactions.pending() ||
  tasks.running() ||
  features.some((feature) => feature.isBusy?.() === true);

/** The features' parts in one session, in the order of the list. */
function openFeatures(list: readonly Feature[], services: FeatureServices) {
  const all: LiveFeature[] = [];
  const byFeature = new Map<Feature, LiveFeature>();
  return {
    all,
    open(context: SessionContext): void {
      for (const feature of list) {
        const live = feature.open?.(context, services);
        if (!live) continue;
        all.push(live);
        byFeature.set(feature, live);
      }
    },
    get<Live extends LiveFeature>(feature: Feature<Live>): Live {
      const live = byFeature.get(feature);
      if (!live) throw new Error(`the feature ${feature.name} is not in the list`);
      // The value was returned by this feature's `open`.
      return live as Live;
    },
  };
}
