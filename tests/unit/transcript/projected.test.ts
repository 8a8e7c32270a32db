/** Events that followers of a transcript do not receive. A new event is added to one of the two lists. */
import { expect, it } from 'vitest';
import { features } from '#server/features/features.ts';
import { isGlobalEvent } from '#server/events/frame.ts';
import { projectedTypes } from '#server/transcript/following/projected.ts';
import { durableEvents, globalEvents, volatileEvents, volatileGlobalEvents } from '#schema/events/catalogue.ts';

const types = Object.keys({
  ...durableEvents,
  ...volatileEvents,
  ...globalEvents,
  ...volatileGlobalEvents,
}).toSorted();

it('are those that operations convey', () => {
  const projected = projectedTypes(features);
  expect(types.filter((type) => projected.has(type))).toEqual([
    'agent.status.updated',
    'assistant.delta',
    'background.task.started',
    'background.task.terminated',
    'compaction.blocked',
    'compaction.cancelled',
    'compaction.completed',
    'compaction.started',
    'context.spliced',
    'cron.fired',
    'error',
    'event.approval.requested',
    'event.approval.resolved',
    'event.question.answered',
    'event.question.dismissed',
    'event.question.requested',
    'goal.updated',
    'hook.result',
    'plan.revision',
    'plugin_command.activated',
    'prompt.aborted',
    'prompt.completed',
    'prompt.started',
    'prompt.steered',
    'prompt.submitted',
    'skill.activated',
    'subagent.completed',
    'subagent.failed',
    'subagent.spawned',
    'subagent.started',
    'subagent.suspended',
    'task.notified',
    'task.started',
    'task.terminated',
    'thinking.delta',
    'tool.call.delta',
    'tool.call.started',
    'tool.progress',
    'tool.result',
    'turn.ended',
    'turn.started',
    'turn.step.completed',
    'turn.step.interrupted',
    'turn.step.retrying',
    'turn.step.started',
    'warning',
  ]);
  expect(types.filter((type) => !isGlobalEvent(type) && !projected.has(type))).toEqual([
    'agent.created',
    'agent.disposed',
    'context.undone',
    'mcp.server.status',
    'permission.approval.requested',
    'permission.approval.resolved',
    'prompt.queued',
    'tool.list.updated',
  ]);
  expect(types.filter((type) => isGlobalEvent(type) && projected.has(type))).toEqual([]);
});

it('include an event as soon as a feature has a row for it', () => {
  expect(projectedTypes([]).has('goal.updated')).toBe(false);
  expect(projectedTypes([{ transcript: { 'goal.updated': () => [] } }]).has('goal.updated')).toBe(true);
});
