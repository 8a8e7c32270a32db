/** Subagents; the frame's `agentId` is the calling agent, the child is `subagentId`. */
import * as z from 'zod';
import { tokenUsageSchema } from '../engine.ts';
import { count } from '../scalars.ts';

export const subagentEvents = {
  'subagent.spawned': z.object({
    subagentId: z.string(),
    subagentName: z.string(),
    /** `""` if there is none. */
    parentToolCallId: z.string(),
    parentToolCallUuid: z.string().optional(),
    parentAgentId: z.string().optional(),
    callerAgentId: z.string().optional(),
    description: z.string().optional(),
    /** Starts at 1. */
    swarmIndex: z.number().int().optional(),
    runInBackground: z.boolean(),
    model: z.string().optional(),
    thinkingEffort: z.string().optional(),
    taskId: z.string().optional(),
  }),
  'subagent.started': z.object({ subagentId: z.string() }),
  'subagent.suspended': z.object({ subagentId: z.string(), reason: z.string() }),
  'subagent.completed': z.object({
    subagentId: z.string(),
    resultSummary: z.string(),
    usage: tokenUsageSchema.optional(),
    contextTokens: count.optional(),
  }),
  'subagent.failed': z.object({ subagentId: z.string(), error: z.string() }),
};
