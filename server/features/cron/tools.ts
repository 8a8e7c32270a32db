/** The model's tools for scheduled jobs, of the main agent only: create one, list them, delete one. */
import * as z from 'zod';
import { defineTool, ToolInputError, type RunContext, type Tool, type ToolResult } from '#server/tools/tool.ts';
import { loadSchedules } from './jobs.ts';
import type { Schedule } from './schedule.ts';

export const MAX_JOBS = 50;
export const MAX_PROMPT_BYTES = 8 * 1024;
const DAY_MS = 24 * 3_600_000;
/** A first time beyond these limits is treated as a mistake. */
const RECURRING_WITHIN_YEARS = 5;
const ONCE_WITHIN_DAYS = 350;

export interface NewJob {
  schedule: Schedule;
  prompt: string;
  recurring: boolean;
}

/** Actions of the tools; each change appends its call's result itself: check and change are atomic. */
export interface CronActions {
  now(): number;
  create(job: NewJob, context: RunContext): Promise<ToolResult>;
  list(): Promise<string>;
  delete(id: string, context: RunContext): ToolResult;
}

const createParameters = z.object({
  cron: z
    .string()
    .describe(
      'Five fields in local time: minute, hour, day of the month, month, day of the week (0-7, Sunday is 0 or 7). Digits, `*`, lists `1,15`, ranges `1-5` and steps `*/10`; no names.',
    ),
  prompt: z
    .string()
    .min(1)
    .refine((text) => Buffer.byteLength(text) <= MAX_PROMPT_BYTES, `at most ${MAX_PROMPT_BYTES} bytes`)
    .describe('What you are told when it fires. Say all that is needed to act on it then.'),
  recurring: z
    .boolean()
    .default(true)
    .describe('true: at every time that fits, for a week. false: once, at the first one, then it is deleted.'),
});

const CREATE = `Schedule a prompt for yourself, later or again and again, in this session.

It fires when no turn runs, at or a little beside its time, and opens a turn of its own. Times that were missed come as one. A recurring job ends by itself after a week. A session has at most ${MAX_JOBS} jobs. For a reminder name minute, hour, day and month and pass recurring false. Prefer a minute other than 0 and 30 unless the user named it.`;

function createCronCreate(actions: CronActions): Tool {
  return defineTool({
    name: 'CronCreate',
    permission: 'ask',
    effects: 'outside',
    description: CREATE,
    parameters: createParameters,
    async prepare(args) {
      const { cron, prompt, recurring } = args;
      const schedule = await scheduleOf(cron);
      assertComes(schedule, recurring, actions.now());
      return {
        accesses: [],
        label: `Schedule a prompt at "${schedule.expression}"`,
        subject: { text: JSON.stringify({ cron, prompt, recurring }), match: 'literal' },
        run: (context) => actions.create({ schedule, prompt, recurring }, context),
      };
    },
  });
}

/** Throws `ToolInputError` for an invalid expression. */
async function scheduleOf(text: string): Promise<Schedule> {
  const { openSchedule, ExpressionError } = await loadSchedules();
  try {
    return openSchedule(text);
  } catch (error) {
    if (error instanceof ExpressionError) throw invalid(error.message);
    throw error;
  }
}

function assertComes(schedule: Schedule, recurring: boolean, now: number): void {
  const first = schedule.next(now);
  const latest = new Date(now);
  latest.setFullYear(latest.getFullYear() + RECURRING_WITHIN_YEARS);
  if (first === undefined || first > latest.getTime()) {
    throw invalid(`No such time comes within ${RECURRING_WITHIN_YEARS} years.`);
  }
  if (!recurring && first - now > ONCE_WITHIN_DAYS * DAY_MS) {
    throw invalid(`A job that comes once must come within ${ONCE_WITHIN_DAYS} days.`);
  }
}

const invalid = (why: string) => new ToolInputError(`[cron.expression_invalid] The schedule is not valid. ${why}`);

function createCronList(actions: CronActions): Tool {
  return defineTool({
    name: 'CronList',
    permission: 'free',
    effects: 'none',
    description: 'List the scheduled jobs of this session: ids, times, prompts.',
    parameters: z.object({}),
    prepare: () => ({
      accesses: [],
      label: 'List scheduled jobs',
      subject: { match: 'literal' },
      run: async () => ({ output: await actions.list() }),
    }),
  });
}

const deleteParameters = z.object({ id: z.string().min(1).describe('Of CronCreate or CronList.') });

function createCronDelete(actions: CronActions): Tool {
  return defineTool({
    name: 'CronDelete',
    permission: 'ask',
    effects: 'outside',
    description: 'Delete a scheduled job, so that it does not fire any more.',
    parameters: deleteParameters,
    prepare: ({ id }) => ({
      accesses: [],
      label: `Delete the scheduled job ${id}`,
      subject: { match: 'literal' },
      run: async (context) => actions.delete(id, context),
    }),
  });
}

export const createCronTools = (actions: CronActions): readonly Tool[] => [
  createCronCreate(actions),
  createCronList(actions),
  createCronDelete(actions),
];
