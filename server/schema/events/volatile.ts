/** Events that are neither journaled nor replayed. */
import * as z from 'zod';
import { tokenUsageSchema } from '../engine.ts';
import { count, permissionModeSchema } from '../scalars.ts';
import { turnEndReason } from './turns.ts';

const ms = z.number().int();
const phaseStep = { turnId: count, step: count, stepId: z.literal('') };

export const usageStatusSchema = z.object({
  byModel: z.record(z.string(), tokenUsageSchema).optional(),
  total: tokenUsageSchema.optional(),
  currentTurn: tokenUsageSchema.optional(),
});
export type UsageStatus = z.infer<typeof usageStatusSchema>;

export const phaseSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('idle') }),
  z.object({ kind: z.literal('running'), ...phaseStep, since: ms }),
  z.object({
    kind: z.literal('streaming'),
    ...phaseStep,
    stream: z.enum(['assistant', 'thinking', 'tool_call']),
    since: ms,
  }),
  z.object({
    kind: z.literal('tool_call'),
    turnId: count,
    step: count,
    toolCallId: z.string(),
    name: z.string(),
    since: ms,
  }),
  z.object({
    kind: z.literal('retrying'),
    ...phaseStep,
    failedAttempt: count,
    nextAttempt: count,
    maxAttempts: count,
    delayMs: z.number(),
    errorName: z.string().optional(),
    statusCode: z.number().int().optional(),
    since: ms,
  }),
  z.object({
    kind: z.literal('awaiting_approval'),
    turnId: count,
    step: count.optional(),
    approval: z.object({ approvalId: z.string(), toolCallId: z.string() }),
    since: ms,
  }),
  z.object({
    kind: z.literal('interrupted'),
    turnId: count,
    step: count.optional(),
    reason: z.enum(['aborted', 'max_steps', 'error']),
    at: ms,
  }),
  z.object({
    kind: z.literal('ended'),
    turnId: count,
    reason: turnEndReason,
    durationMs: z.number().optional(),
    at: ms,
  }),
]);
export type Phase = z.infer<typeof phaseSchema>;

export const volatileEvents = {
  'assistant.delta': z.object({ turnId: count, delta: z.string() }),
  'thinking.delta': z.object({ turnId: count, delta: z.string() }),
  'tool.call.delta': z.object({
    turnId: count,
    toolCallId: z.string(),
    name: z.string().optional(),
    argumentsPart: z.string().optional(),
  }),
  'tool.progress': z.object({
    turnId: count,
    toolCallId: z.string(),
    update: z.object({
      kind: z.enum(['stdout', 'stderr', 'progress', 'status', 'custom']),
      text: z.string().optional(),
      percent: z.number().optional(),
      customKind: z.string().optional(),
      customData: z.unknown().optional(),
      replace: z.boolean().optional(),
    }),
  }),
  'agent.status.updated': z.object({
    phase: phaseSchema.optional(),
    model: z.string().optional(),
    thinkingEffort: z.string().optional(),
    contextTokens: count.optional(),
    maxContextTokens: count.optional(),
    contextUsage: z.number().optional(),
    usage: usageStatusSchema.optional(),
    planMode: z.boolean().optional(),
    swarmMode: z.boolean().optional(),
    permission: permissionModeSchema.optional(),
  }),
};

/** Settings and status of an agent. */
export type StatusFields = Omit<z.infer<(typeof volatileEvents)['agent.status.updated']>, 'phase'>;
