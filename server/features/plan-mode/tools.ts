/** EnterPlanMode and ExitPlanMode. */
import * as z from 'zod';
import type { Draft } from '#server/journal/records.ts';
import { defineTool, failed, type Tool, type ToolEnvironment, type ToolResult } from '#server/tools/tool.ts';
import { ANSWER_LABELS, reviewOutcome, type PlanOption, type ReviewedPlan, type ReviewOutcome } from './review.ts';

export const ENTER_PLAN_MODE = 'EnterPlanMode';
export const EXIT_PLAN_MODE = 'ExitPlanMode';

const MAX_OPTIONS = 3;
const LABEL_CHARS = 80;
/** Fewer options are not displayed, as there is no choice. */
const SHOWN_OPTIONS = 2;

/** Plan mode of one agent. */
export interface AgentPlanMode {
  /** Enters plan mode, and returns its records and the plan's path. Throws when it is on. */
  enter(): { records: Draft[]; path: string };
  /** The plan as stored in its file, or the reason why there is none to show. */
  read(environment: Pick<ToolEnvironment, 'runtime'>): Promise<ReviewedPlan | { problem: string }>;
  /** Stores the text of the plan as a blob, and returns the records of its revision. */
  revision(plan: ReviewedPlan): Promise<Draft[]>;
  /** The records that leave plan mode; empty if it is already off. */
  leave(how: NonNullable<ReviewOutcome['leaves']>): Draft[];
}

const ENTER_DESCRIPTION = `Enter plan mode: you look around and write a plan into a file, which the user reviews before anything is changed.

Use it for work that is large, risky or can be done in several ways, or when the user asks for a plan. Do not use it for small or well described changes, nor for questions.`;

const enterParameters = z.strictObject({});

export const createEnterPlanModeTool = (mode: AgentPlanMode): Tool =>
  defineTool({
    name: ENTER_PLAN_MODE,
    permission: 'free',
    effects: 'none',
    description: ENTER_DESCRIPTION,
    parameters: enterParameters,
    prepare: () => ({
      accesses: [],
      label: 'Entering plan mode',
      subject: { match: 'literal' },
      async run(): Promise<ToolResult> {
        const { records, path } = mode.enter();
        return { output: `Plan mode is on. Write the plan to ${path}.`, records, facts: { planMode: true } };
      },
    }),
  });

const option = z.strictObject({
  label: z
    .string()
    .min(1)
    .max(LABEL_CHARS)
    .refine((label) => !ANSWER_LABELS.includes(label), { error: `must not be one of ${ANSWER_LABELS.join(', ')}` })
    .describe(`Name of the approach, at most ${LABEL_CHARS} characters.`),
  description: z.string().optional().describe('What choosing it means.'),
});

const exitParameters = z.strictObject({
  options: z
    .array(option)
    .min(1)
    .max(MAX_OPTIONS)
    .refine((options) => new Set(options.map(({ label }) => label)).size === options.length, {
      error: 'each label must be there once',
    })
    .optional()
    .describe('Approaches that the plan describes and the user shall choose from. Leave it out when there is one way.'),
});

const EXIT_DESCRIPTION = `Show the plan that you wrote into the plan file to the user, and leave plan mode when they approve it.

The plan is read from the file: write it in a response before this one. Call it only in plan mode and only when the plan is whole; not for questions, which AskUserQuestion is for.`;

function shown(options: readonly PlanOption[]) {
  if (options.length < SHOWN_OPTIONS) return {};
  return {
    options: options.map(({ label, description }) => ({
      label,
      ...(description === undefined ? {} : { description }),
    })),
  };
}

export const createExitPlanModeTool = (mode: AgentPlanMode): Tool =>
  defineTool({
    name: EXIT_PLAN_MODE,
    permission: 'free',
    effects: 'none',
    description: EXIT_DESCRIPTION,
    parameters: exitParameters,
    async prepare({ options = [] }, environment) {
      const label = 'Presenting plan and exiting plan mode';
      const plan = await mode.read(environment);
      if ('problem' in plan) {
        return { accesses: [], label, subject: { match: 'literal' }, run: async () => failed(plan.problem) };
      }
      return {
        accesses: [],
        label,
        display: { kind: 'plan_review', plan: plan.text, path: plan.path, ...shown(options) },
        subject: { match: 'literal' },
        review: { records: () => mode.revision(plan) },
        async run({ answer }) {
          const { leaves, ...result } = reviewOutcome(answer, plan, options);
          const records = leaves ? mode.leave(leaves) : [];
          return { ...result, ...(records.length > 0 ? { records, facts: { planMode: false } } : {}) };
        },
      };
    },
  });
