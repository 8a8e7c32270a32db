/** All projections of a session, folded in one pass. */
import type { JournalHeader } from './header.ts';
import { activityProjection, type ActivityState } from './projections/activity.ts';
import { contextProjection, type Contexts } from './projections/context.ts';
import { countersProjection, type CountersState } from './projections/counters.ts';
import { startFeatures, type FeatureFolds, type FeatureProjection } from './projections/feature-projection.ts';
import { indexProjection, type IndexState } from './projections/index-row.ts';
import { interactionsProjection, type InteractionsState } from './projections/interactions.ts';
import { messagesProjection, type MessagesState } from './projections/messages.ts';
import { promptsProjection, type PromptsState } from './projections/prompts.ts';
import { statusProjection, type StatusState } from './projections/status.ts';
import { tasksProjection, type TasksState } from './projections/tasks.ts';
import { usageProjection, type UsageState } from './projections/usage.ts';
import type { Batch } from './records.ts';

export interface LogState {
  context: Contexts;
  messages: MessagesState;
  status: StatusState;
  activity: ActivityState;
  tasks: TasksState;
  interactions: InteractionsState;
  prompts: PromptsState;
  usage: UsageState;
  counters: CountersState;
  index: IndexState;
  features: FeatureFolds;
  /** Time of the last line, ms. */
  lastTime: number;
}

export function initialState(header: JournalHeader, projections: readonly FeatureProjection[]): LogState {
  const features = startFeatures(projections, header);
  return {
    context: contextProjection.initial(features),
    messages: messagesProjection.initial(header),
    status: statusProjection.initial(header),
    activity: activityProjection.initial(header),
    tasks: tasksProjection.initial(header),
    interactions: interactionsProjection.initial(header),
    prompts: promptsProjection.initial(header),
    usage: usageProjection.initial(header),
    counters: countersProjection.initial(header),
    index: indexProjection.initial(header),
    features,
    lastTime: header.created_at,
  };
}

/**
 * Folds one line. `line` is its byte offset, absent for records that are not written yet; `before` is the number of
 * records that precede them on their line.
 */
export function applyBatch(state: LogState, { t, records }: Batch, line?: number, before = 0): void {
  const { projections } = state.features;
  let place = before;
  for (const record of records) {
    contextProjection.apply(state.context, record);
    messagesProjection.apply(state.messages, record, t, { line, record: place });
    statusProjection.apply(state.status, record, t);
    activityProjection.apply(state.activity, record, t);
    tasksProjection.apply(state.tasks, record, t);
    interactionsProjection.apply(state.interactions, record, t);
    promptsProjection.apply(state.prompts, record, t);
    usageProjection.apply(state.usage, record, t);
    countersProjection.apply(state.counters, record, t);
    indexProjection.apply(state.index, record, t);
    for (const projection of projections) projection.apply(state.features, record, t);
    place += 1;
  }
  state.lastTime = t;
}
