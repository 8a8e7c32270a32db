/** All projections of a session, folded in one pass. */
import type { JournalHeader } from './header.ts';
import { contextProjection, type Contexts } from './projections/context.ts';
import { countersProjection, type CountersState } from './projections/counters.ts';
import { indexProjection, type IndexState } from './projections/index-row.ts';
import { messagesProjection, type MessagesState } from './projections/messages.ts';
import { promptsProjection, type PromptsState } from './projections/prompts.ts';
import { statusProjection, type StatusState } from './projections/status.ts';
import { usageProjection, type UsageState } from './projections/usage.ts';
import type { Batch } from './records.ts';

export interface LogState {
  /** By agent id. */
  context: Contexts;
  messages: MessagesState;
  status: StatusState;
  prompts: PromptsState;
  usage: UsageState;
  counters: CountersState;
  index: IndexState;
  /** Time of the last line, ms. */
  lastTime: number;
}

export function initialState(header: JournalHeader): LogState {
  return {
    context: contextProjection.initial(header),
    messages: messagesProjection.initial(header),
    status: statusProjection.initial(header),
    prompts: promptsProjection.initial(header),
    usage: usageProjection.initial(header),
    counters: countersProjection.initial(header),
    index: indexProjection.initial(header),
    lastTime: header.created_at,
  };
}

/** Folds one line. */
export function applyBatch(state: LogState, { t, records }: Batch): void {
  for (const record of records) {
    contextProjection.apply(state.context, record, t);
    messagesProjection.apply(state.messages, record, t);
    statusProjection.apply(state.status, record, t);
    promptsProjection.apply(state.prompts, record, t);
    usageProjection.apply(state.usage, record, t);
    countersProjection.apply(state.counters, record, t);
    indexProjection.apply(state.index, record, t);
  }
  state.lastTime = t;
}
