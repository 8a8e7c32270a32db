/** Events that the transcript conveys: a follower of an agent's transcript does not receive them for that agent. */
import type { DurableType } from '#schema/events/catalogue.ts';
import { typesWithRow } from '../mapper.ts';
import { volatileRows } from '../stream.ts';
import type { TranscriptFeature } from '../transcript-rows.ts';

/** Events without a row, whose content the rows of other records convey. */
const CONVEYED_BY_OTHERS: readonly DurableType[] = [
  'background.task.started',
  'background.task.terminated',
  'plugin_command.activated',
  'prompt.started',
  'skill.activated',
  'subagent.started',
];

/** Events with a row that are sent nevertheless: they concern more than the transcript of one agent. */
const SENT_NEVERTHELESS: readonly DurableType[] = [
  'agent.created',
  'agent.disposed',
  'context.undone',
  'event.session.created',
];

/** The types of the conveyed events in a program with these features: those that have a row, with few exceptions. */
export function projectedTypes(features: readonly TranscriptFeature[]): ReadonlySet<string> {
  const types = new Set<string>([...typesWithRow(features), ...Object.keys(volatileRows), ...CONVEYED_BY_OTHERS]);
  for (const type of SENT_NEVERTHELESS) types.delete(type);
  return types;
}
