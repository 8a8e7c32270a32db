/** Actions of the cron tools. Each change is appended on the same line as the result of its call. */
import { cutText } from '#server/text/truncate.ts';
import type { SessionContext } from '#server/agent/contract/context.ts';
import { newUlid } from '#server/ids.ts';
import { internal, type CronJob, type Draft } from '#server/journal/records.ts';
import { failed, type RunContext, type ToolResult } from '#server/tools/tool.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import { createBacklog } from './backlog.ts';
import type { Jobs } from './jobs.ts';
import { cronTable } from './projection.ts';
import { cronSettings } from './settings.ts';
import { MAX_JOBS, type CronActions } from './tools.ts';

/** Length to which prompts are cut in the list. */
const LISTED_CHARS = 500;

/** Creates the actions of the main agent. */
export function createCronActions(session: SessionContext, jobs: Jobs): CronActions {
  const { log, clock, config } = session;

  function end(context: RunContext, output: string, drafts: Draft[]): ToolResult {
    const result = { output };
    log.append([...drafts, ...context.finish(result)]);
    session.changed();
    return result;
  }

  return {
    now: clock.now,
    async create({ schedule, prompt, recurring }, context) {
      const { expression: cron } = schedule;
      const said = await humanSchedule(cron);
      context.signal.throwIfAborted();
      if (jobs.size >= MAX_JOBS) return failed(`There are ${MAX_JOBS} jobs already. Delete one first (CronDelete).`);
      const job: CronJob = { id: newUlid(), cron, prompt, createdAt: clock.now(), ...(recurring ? { recurring } : {}) };
      const { dueAt } = createBacklog(job, schedule, cronSettings(config.effective()).jitter);
      const shown = { id: job.id, cron, humanSchedule: said, recurring, nextFireAt: localTime(dueAt) };
      return end(context, JSON.stringify(shown), [internal(MAIN_AGENT, 'cron.added', { job })]);
    },
    async list() {
      await jobs.countOn();
      const shown = jobs.followed().map(async ({ job, backlog }) => {
        const { id, cron, prompt, recurring = false } = job;
        const times = { humanSchedule: await humanSchedule(cron), recurring, nextFireAt: localTime(backlog.dueAt) };
        return JSON.stringify({ id, cron, ...times, prompt: cutText(prompt, LISTED_CHARS) });
      });
      const lines = await Promise.all(shown);
      return lines.length > 0 ? lines.join('\n') : 'There are no scheduled jobs.';
    },
    delete(id, context) {
      if (!cronTable(log.state.features).has(id)) return failed(`There is no scheduled job ${id}.`);
      return end(context, `The job ${id} is deleted.`, [internal(MAIN_AGENT, 'cron.deleted', { id, cause: 'tool' })]);
    },
  };
}

/** The expression in words. Imports the library for it on first use. */
async function humanSchedule(expression: string): Promise<string> {
  const { default: cronstrue } = await import('cronstrue');
  return cronstrue.toString(expression, { use24HourTimeFormat: true });
}

/** Local time with its offset from UTC. */
function localTime(ms: number | undefined): string | null {
  if (ms === undefined) return null;
  const minutes = -new Date(ms).getTimezoneOffset();
  const local = new Date(ms + minutes * 60_000).toISOString().slice(0, 19);
  const two = (value: number) => String(Math.trunc(Math.abs(value))).padStart(2, '0');
  return `${local}${minutes < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`;
}
