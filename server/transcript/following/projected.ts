/** Events that the transcript conveys: a follower of an agent's transcript does not receive them for that agent. */

const families = [
  'turn.',
  'tool.call.',
  'shell.',
  'background.task.',
  'subagent.',
  'compaction.',
  'event.approval.',
  'event.question.',
];

const types: ReadonlySet<string> = new Set([
  'assistant.delta',
  'thinking.delta',
  'tool.progress',
  'tool.result',
  'task.started',
  'task.terminated',
  'task.notified',
  'skill.activated',
  'plugin_command.activated',
  'cron.fired',
  'error',
  'warning',
  'goal.updated',
  'plan.revision',
  'context.spliced',
  'agent.status.updated',
  'hook.result',
  'prompt.submitted',
  'prompt.started',
  'prompt.completed',
  'prompt.aborted',
  'prompt.steered',
]);

export const isProjected = (type: string): boolean =>
  types.has(type) || families.some((family) => type.startsWith(family));
