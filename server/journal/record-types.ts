/**
 * The names of all record types, separate from their schemas: a journal is written and read without building those.
 * Incomplete tables do not compile.
 */
import type { DurableType } from '#schema/events/catalogue.ts';
import type { InternalType } from './records.ts';

const internalTypeTable: Record<InternalType, true> = {
  forked: true,
  'session.opened': true,
  'session.closed': true,
  'session.tools': true,
  'agent.bound': true,
  'agent.config': true,
  'agent.prompt': true,
  'agent.tools': true,
  'mcp.tools': true,
  'turn.skipped': true,
  'step.response': true,
  'usage.recorded': true,
  'plan.entered': true,
  'plan.left': true,
  'swarm.entered': true,
  'swarm.left': true,
  'shell.begun': true,
  'shell.ended': true,
  'cron.added': true,
  'cron.deleted': true,
  'cron.cursor': true,
  'context.cleared': true,
};
/** Internal types, which never get a number. */
export const internalTypes: ReadonlySet<string> = new Set(Object.keys(internalTypeTable));

const eventTypeTable: Record<DurableType, true> = {
  'event.session.created': true,
  'event.session.work_changed': true,
  'session.meta.updated': true,
  'agent.created': true,
  'agent.disposed': true,
  error: true,
  warning: true,
  'prompt.submitted': true,
  'prompt.queued': true,
  'prompt.started': true,
  'prompt.steered': true,
  'prompt.completed': true,
  'prompt.aborted': true,
  'turn.started': true,
  'turn.step.started': true,
  'turn.step.completed': true,
  'turn.step.retrying': true,
  'turn.step.interrupted': true,
  'turn.ended': true,
  'context.spliced': true,
  'tool.call.started': true,
  'tool.result': true,
  'permission.approval.requested': true,
  'permission.approval.resolved': true,
  'event.approval.requested': true,
  'event.approval.resolved': true,
  'event.question.requested': true,
  'event.question.answered': true,
  'event.question.dismissed': true,
  'subagent.spawned': true,
  'subagent.started': true,
  'subagent.suspended': true,
  'subagent.completed': true,
  'subagent.failed': true,
  'task.started': true,
  'task.terminated': true,
  'background.task.started': true,
  'background.task.terminated': true,
  'task.notified': true,
  'compaction.started': true,
  'compaction.blocked': true,
  'compaction.completed': true,
  'compaction.cancelled': true,
  'context.undone': true,
  'goal.updated': true,
  'plan.revision': true,
  'skill.activated': true,
  'plugin_command.activated': true,
  'hook.result': true,
  'mcp.server.status': true,
  'tool.list.updated': true,
  'cron.fired': true,
};
/** Event types, which clients may receive. */
export const eventTypes: ReadonlySet<string> = new Set(Object.keys(eventTypeTable));

const names = new Map([...eventTypes, ...internalTypes].map((type) => [type, type]));

/**
 * Interns the type of a record that was read: every fold compares it with many names, which is cheap between strings
 * that are the same.
 */
export function nameType(record: { type: string }): void {
  const name = names.get(record.type);
  if (name !== undefined) record.type = name;
}
