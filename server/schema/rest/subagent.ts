/** Subagents in the snapshot. */
import * as z from 'zod';
import { count, isoTime } from '../scalars.ts';

export const snapshotSubagentSchema = z
  .object({
    /** Agent id. */
    id: z.string(),
    session_id: z.string(),
    kind: z.literal('subagent'),
    description: z.string(),
    status: z.enum(['running', 'completed', 'failed']),
    created_at: isoTime,
    started_at: isoTime.optional(),
    completed_at: isoTime.optional(),
    agent_id: z.string(),
    subagent_type: z.string().optional(),
    parent_tool_call_id: z.string().optional(),
    model: z.string().optional(),
    thinking_effort: z.string().optional(),
    /** The subagent's result, or the reason of its failure. */
    output_preview: z.string().optional(),
    subagent_phase: z.enum(['queued', 'working', 'suspended', 'completed', 'failed']),
    suspended_reason: z.string().optional(),
    swarm_index: count.optional(),
    run_in_background: z.boolean().optional(),
  })
  .meta({ id: 'SnapshotSubagent' });
export type SnapshotSubagent = z.infer<typeof snapshotSubagentSchema>;
