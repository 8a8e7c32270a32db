/** The message of a job that fires, and the turn that it opens. */
import type { TurnRequest } from '#server/agent/contract/context.ts';
import { event, internal, type CronJob } from '#server/journal/records.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { ContextMessage } from '#schema/engine.ts';
import type { Backlog } from './backlog.ts';

/** All records are on one line, so that a crash leaves either the unchanged job or its turn. */
export function firing(job: CronJob, { count, last }: Pick<Backlog, 'count' | 'last'>, stale: boolean): TurnRequest {
  const { id, cron, prompt, recurring = false } = job;
  const origin = { kind: 'cron_job' as const, jobId: id, cron, recurring, coalescedCount: count, stale };
  const text = [
    `<cron-fire jobId="${id}" cron="${cron}" recurring="${recurring}" coalescedCount="${count}" stale="${stale}">`,
    '<prompt>',
    harmless(prompt),
    '</prompt>',
    '</cron-fire>',
  ].join('\n');
  const message: ContextMessage = { role: 'user', content: [{ type: 'text', text }], toolCalls: [], origin };
  const over = stale ? 'stale' : recurring ? undefined : 'once';
  return {
    origin,
    shown: prompt,
    messages: [message],
    after: [
      event(MAIN_AGENT, 'cron.fired', { origin, prompt }, { lastFiredAt: last }),
      ...(over ? [internal(MAIN_AGENT, 'cron.deleted', { id, cause: over })] : []),
    ],
  };
}

/** Escapes tags with which a prompt could close its element. */
const harmless = (text: string) => text.replace(/<(?=\/?(?:cron-fire|prompt|system-reminder)\b)/gi, '&lt;');
