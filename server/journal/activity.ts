/**
 * Completes a line with `event.session.work_changed`, so that no caller has to think of it. Where it stands:
 * directly before what opens or closes an interaction; directly behind `turn.started`; otherwise once, in front of the
 * line's first `prompt.completed`, `prompt.aborted` or `agent.disposed`, else at its end. None when it would say what
 * clients were told last.
 */
import { MAIN_AGENT } from '#schema/agents.ts';
import { applyActivity, workFacts, type ActivityState, type WorkFacts } from './projections/activity.ts';
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
  /** Work without a record of its own, such as a hook on a prompt, is under way. */
  held: boolean;
  /** That changed since the line before: look even if no draft tells of activity. */
  changed: boolean;
}

/** The drafts with the `work_changed` they call for. Pure: `activity` is the fold in front of the line. */
export function withActivity<D extends Draft>(activity: ActivityState, holds: Holds, drafts: D[]): (D | Draft)[] {
  if (!holds.changed && !drafts.some(({ type }) => activityTypes.has(type))) return drafts;
  const after = copyOf(activity);
  const completed: (D | Draft)[] = [];
  let place: number | undefined;

  const missing = (): Draft[] => {
    const facts = toTell(after, holds.held);
    if (same(facts, after.told)) return [];
    after.told = facts;
    return [event(MAIN_AGENT, 'event.session.work_changed', facts)];
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

function toTell(activity: ActivityState, held: boolean): WorkFacts {
  const { last_turn_reason, ...facts } = workFacts(activity, held);
  return activity.disposed || last_turn_reason === undefined ? facts : { ...facts, last_turn_reason };
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

const nothingTold: WorkFacts = { busy: false, main_turn_active: false, pending_interaction: 'none' };

const same = (a: WorkFacts, b: WorkFacts = nothingTold) =>
  a.busy === b.busy &&
  a.main_turn_active === b.main_turn_active &&
  a.pending_interaction === b.pending_interaction &&
  a.last_turn_reason === b.last_turn_reason;
