/**
 * Completes a line with `event.session.work_changed`, so that callers need not add it. Its position: directly before a
 * record that opens or closes an interaction; directly after `turn.started`; otherwise once, before the line's first
 * `prompt.completed`, `prompt.aborted` or `agent.disposed`, else at the line's end. None is added when it would repeat
 * the last published one.
 */
import { MAIN_AGENT } from '#schema/agents.ts';
import { applyActivity, workStatus, type ActivityState, type WorkStatus } from './projections/activity.ts';
import { event, type Draft } from './records.ts';

const interactionTypes: ReadonlySet<string> = new Set([
  'event.approval.requested',
  'event.approval.resolved',
  'event.question.requested',
  'event.question.answered',
  'event.question.dismissed',
]);

const activityTypes: ReadonlySet<string> = new Set([
  ...interactionTypes,
  'turn.started',
  'turn.ended',
  'compaction.started',
  'compaction.completed',
  'compaction.cancelled',
  'task.started',
  'task.terminated',
  'agent.disposed',
]);

const endTypes: ReadonlySet<string> = new Set(['prompt.completed', 'prompt.aborted', 'agent.disposed']);

export interface Holds {
  /** An operation without a record of its own runs, such as a hook on a prompt. */
  held: boolean;
  /** `held` changed since the previous line, so that even a line without activity needs a check. */
  changed: boolean;
}

/** Returns the drafts with the missing `work_changed`. Pure: `activity` is the fold before the line. */
export function withActivity<D extends Draft>(activity: ActivityState, holds: Holds, drafts: D[]): (D | Draft)[] {
  if (!holds.changed && !drafts.some(({ type }) => activityTypes.has(type))) return drafts;
  const after = copyOf(activity);
  const completed: (D | Draft)[] = [];
  let place: number | undefined;

  const missing = (): Draft[] => {
    const status = toTell(after, holds.held);
    if (same(status, after.lastPublished)) return [];
    after.lastPublished = status;
    return [event(MAIN_AGENT, 'event.session.work_changed', status)];
  };

  for (const draft of drafts) {
    applyActivity(after, draft);
    if (interactionTypes.has(draft.type)) completed.push(...missing(), draft);
    else if (draft.type === 'turn.started') completed.push(draft, ...missing());
    else {
      if (endTypes.has(draft.type)) place ??= completed.length;
      completed.push(draft);
    }
  }
  return completed.toSpliced(place ?? completed.length, 0, ...missing());
}

function toTell(activity: ActivityState, held: boolean): WorkStatus {
  const { last_turn_reason, ...status } = workStatus(activity, held);
  return activity.disposed || last_turn_reason === undefined ? status : { ...status, last_turn_reason };
}

function copyOf(activity: ActivityState): ActivityState {
  const { turns, compactions, tasks, approvals, questions } = activity;
  return {
    ...activity,
    turns: new Set(turns),
    compactions: new Set(compactions),
    tasks: new Set(tasks),
    approvals: new Set(approvals),
    questions: new Set(questions),
  };
}

const nothingPublished: WorkStatus = { busy: false, main_turn_active: false, pending_interaction: 'none' };

const same = (a: WorkStatus, b: WorkStatus = nothingPublished) =>
  a.busy === b.busy &&
  a.main_turn_active === b.main_turn_active &&
  a.pending_interaction === b.pending_interaction &&
  a.last_turn_reason === b.last_turn_reason;
