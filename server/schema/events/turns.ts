/** Prompts, turns, steps and the context. */
import * as z from 'zod';
import { contentPartSchema } from '../rest/content.ts';
import { contextMessageSchema, errorPayloadSchema, originSchema, stepTimings, tokenUsageSchema } from '../engine.ts';
import { count, isoTime } from '../scalars.ts';

const step = { turnId: count, step: z.number().int().min(1), stepId: z.string() };

export const turnEndReason = z.enum(['completed', 'cancelled', 'failed', 'blocked']);
export const interruptReason = z.enum(['user_cancelled', 'aborted', 'max_steps', 'error', 'filtered', 'blocked']);
export type InterruptReason = z.infer<typeof interruptReason>;

export const turnEvents = {
  'prompt.submitted': z.object({
    promptId: z.string(),
    userMessageId: z.string(),
    status: z.enum(['running', 'queued', 'blocked']),
    content: z.array(contentPartSchema),
    createdAt: isoTime,
  }),
  'prompt.queued': z.object({ promptId: z.string(), content: z.array(contentPartSchema), queueLength: count }),
  'prompt.started': z.object({ promptId: z.string() }),
  'prompt.steered': z.object({
    activePromptId: z.string(),
    promptIds: z.array(z.string()),
    messageId: z.string(),
    content: z.array(contentPartSchema),
    steeredAt: isoTime,
  }),
  'prompt.completed': z.object({
    promptId: z.string(),
    finishedAt: isoTime,
    reason: z.enum(['completed', 'failed', 'blocked']),
  }),
  'prompt.aborted': z.object({ promptId: z.string(), abortedAt: isoTime }),
  'turn.started': z.object({
    turnId: count,
    promptId: z.string().optional(),
    origin: originSchema,
    prompt: z.string().optional(),
  }),
  'turn.step.started': z.object(step),
  'turn.step.completed': z.object({
    ...step,
    usage: tokenUsageSchema.optional(),
    finishReason: z.string(),
    providerFinishReason: z.string().optional(),
    rawFinishReason: z.string().optional(),
    ...stepTimings,
  }),
  'turn.step.retrying': z.object({
    ...step,
    failedAttempt: count,
    nextAttempt: count,
    maxAttempts: count,
    delayMs: z.number(),
    errorName: z.string(),
    errorMessage: z.string(),
    statusCode: z.number().int().optional(),
  }),
  'turn.step.interrupted': z.object({
    turnId: count,
    step: count,
    stepId: z.string().optional(),
    reason: z.enum(['aborted', 'max_steps', 'error']),
    message: z.string().optional(),
  }),
  'turn.ended': z.object({
    turnId: count,
    reason: turnEndReason,
    durationMs: z.number().optional(),
    error: errorPayloadSchema.optional(),
    interruptReason: interruptReason.optional(),
  }),
  'context.spliced': z.object({
    start: count,
    deleteCount: count,
    messages: z.array(contextMessageSchema),
    tokens: count,
    /** Set only in frames whose messages were too large to send. */
    truncated: z.literal(true).optional(),
  }),
};
