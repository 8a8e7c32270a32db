/** Goal, plan, skills, commands, hooks. */
import * as z from 'zod';
import { count } from '../scalars.ts';

export const goalStatus = z.enum(['active', 'paused', 'blocked', 'complete']);

/** A goal as sent to clients; a budget that is not set is null. */
export const goalSchema = z
  .object({
    goalId: z.string(),
    objective: z.string(),
    completionCriterion: z.string().optional(),
    status: goalStatus,
    turnsUsed: count,
    tokensUsed: count,
    wallClockMs: z.number(),
    budget: z.object({
      tokenBudget: z.number().nullable(),
      turnBudget: z.number().nullable(),
      wallClockBudgetMs: z.number().nullable(),
      remainingTokens: z.number().nullable(),
      remainingTurns: z.number().nullable(),
      remainingWallClockMs: z.number().nullable(),
      tokenBudgetReached: z.boolean(),
      turnBudgetReached: z.boolean(),
      wallClockBudgetReached: z.boolean(),
      overBudget: z.boolean(),
    }),
    terminalReason: z.string().optional(),
  })
  .meta({ id: 'Goal' });
export type Goal = z.infer<typeof goalSchema>;

export const modeEvents = {
  'goal.updated': z.object({
    snapshot: goalSchema.nullable(),
    change: z
      .object({
        kind: z.enum(['lifecycle', 'completion']),
        status: goalStatus.optional(),
        reason: z.string().optional(),
        actor: z.enum(['user', 'model', 'runtime', 'system']).optional(),
        stats: z.object({ turnsUsed: count, tokensUsed: count, wallClockMs: z.number() }).optional(),
      })
      .optional(),
  }),
  'plan.revision': z.object({
    id: z.string(),
    version: z.number().int(),
    path: z.string(),
    sha256: z.string(),
    bytes: count,
  }),
  'skill.activated': z.object({
    activationId: z.string(),
    skillName: z.string(),
    trigger: z.enum(['user-slash', 'model-tool', 'nested-skill']),
    skillArgs: z.string().optional(),
    skillPath: z.string().optional(),
    skillSource: z.enum(['project', 'user', 'extra', 'builtin']).optional(),
  }),
  'plugin_command.activated': z.object({
    activationId: z.string(),
    pluginId: z.string(),
    commandName: z.string(),
    commandArgs: z.string().optional(),
    trigger: z.literal('user-slash'),
  }),
  'hook.result': z.object({
    turnId: count.optional(),
    hookEvent: z.string(),
    content: z.string(),
    blocked: z.literal(true).optional(),
  }),
};
