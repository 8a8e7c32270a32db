/** Tasks in replies to clients. */
import * as z from 'zod';
import { count, isoTime } from '../scalars.ts';

export const taskStatusSchema = z.enum(['running', 'completed', 'failed', 'cancelled']);

export const sessionTaskSchema = z
  .object({
    id: z.string(),
    session_id: z.string(),
    /** `tool`: a question that the agent does not wait for. */
    kind: z.enum(['bash', 'subagent', 'tool']),
    description: z.string(),
    status: taskStatusSchema,
    created_at: isoTime,
    started_at: isoTime,
    completed_at: isoTime.optional(),
    command: z.string().optional(),
    parent_tool_call_id: z.string().optional(),
    model: z.string().optional(),
    thinking_effort: z.string().optional(),
    agent_id: z.string().optional(),
    subagent_type: z.string().optional(),
    /** Tail of the task's output. */
    output_preview: z.string().optional(),
    /** Length of `output_preview` in bytes. */
    output_bytes: count.optional(),
  })
  .meta({ id: 'Task' });
export type SessionTask = z.infer<typeof sessionTaskSchema>;
