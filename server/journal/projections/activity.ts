/** The activity of a session, and the last `event.session.work_changed` that was published of it. */
import { MAIN_AGENT } from '#schema/agents.ts';
import type { DurableFields } from '#schema/events/catalogue.ts';
import type { PendingInteraction, TurnOutcome } from '#schema/scalars.ts';
import type { Draft } from '../records.ts';
import type { Projection } from './projection.ts';

export interface ActivityState {
  /** Agents with a running turn. */
  turns: Set<string>;
  /** Agents whose context is being compacted. */
  compactions: Set<string>;
  /** Ids of running background tasks. */
  tasks: Set<string>;
  /** Ids of pending interactions. */
  approvals: Set<string>;
  questions: Set<string>;
  /** Outcome of the main agent's last turn, absent while its turn runs. */
  outcome: TurnOutcome | undefined;
  /** The main agent was disposed: no outcome is published until it is created again. */
  disposed: boolean;
  /** The activity that was published last. */
  lastPublished: WorkStatus | undefined;
}

export type WorkStatus = DurableFields<'event.session.work_changed'>;

export const idleActivity = (): ActivityState => ({
  turns: new Set(),
  compactions: new Set(),
  tasks: new Set(),
  approvals: new Set(),
  questions: new Set(),
  outcome: undefined,
  disposed: false,
  lastPublished: undefined,
});

/** Whether a turn, background task or compaction of any agent runs. */
export function isBusy({ turns, compactions, tasks }: ActivityState): boolean {
  return turns.size > 0 || compactions.size > 0 || tasks.size > 0;
}

export function mainTurnActive(state: ActivityState): boolean {
  return state.turns.has(MAIN_AGENT);
}

/** The pending interaction of any agent; an approval takes precedence over a question. */
export function pendingInteraction({ approvals, questions }: ActivityState): PendingInteraction {
  if (approvals.size > 0) return 'approval';
  return questions.size > 0 ? 'question' : 'none';
}

/** The activity as clients receive it; `held` marks a running operation without a record of its own. */
export function workStatus(state: ActivityState, held = false): WorkStatus {
  return {
    busy: held || isBusy(state),
    main_turn_active: mainTurnActive(state),
    pending_interaction: pendingInteraction(state),
    ...(state.outcome === undefined ? {} : { last_turn_reason: state.outcome }),
  };
}

/** Applies a record, or the draft of one. */
export function applyActivity(state: ActivityState, record: Draft): void {
  switch (record.type) {
    case 'agent.created':
      if (record.agent === MAIN_AGENT) state.disposed = false;
      break;
    case 'agent.disposed':
      if (record.agent === MAIN_AGENT) state.disposed = true;
      break;
    case 'turn.started':
      state.turns.add(record.agent);
      if (record.agent === MAIN_AGENT) state.outcome = undefined;
      break;
    case 'turn.ended':
      state.turns.delete(record.agent);
      if (record.agent === MAIN_AGENT) state.outcome = record.reason === 'blocked' ? 'failed' : record.reason;
      break;
    case 'compaction.started':
      state.compactions.add(record.agent);
      break;
    case 'compaction.completed':
    case 'compaction.cancelled':
      state.compactions.delete(record.agent);
      break;
    case 'task.started':
      state.tasks.add(record.info.taskId);
      break;
    case 'task.terminated':
      state.tasks.delete(record.info.taskId);
      break;
    case 'event.approval.requested':
      state.approvals.add(record.approval_id);
      break;
    case 'event.approval.resolved':
      state.approvals.delete(record.approval_id);
      break;
    case 'event.question.requested':
      state.questions.add(record.question_id);
      break;
    case 'event.question.answered':
    case 'event.question.dismissed':
      state.questions.delete(record.question_id);
      break;
    case 'event.session.work_changed': {
      const { busy, main_turn_active, pending_interaction, last_turn_reason } = record;
      state.lastPublished = {
        busy,
        main_turn_active,
        pending_interaction,
        ...(last_turn_reason === undefined ? {} : { last_turn_reason }),
      };
      break;
    }
    case 'forked':
      // The settling records after it close running operations; nothing was published about the copy yet.
      state.lastPublished = undefined;
      break;
  }
}

export const activityProjection: Projection<ActivityState> = {
  initial: idleActivity,
  apply: applyActivity,
};
