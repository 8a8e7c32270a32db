/** Messages and the snapshot in REST replies. */
import * as z from 'zod';
import { contentPartSchema } from './content.ts';
import { displaySchema } from './display.ts';
import { originSchema } from '../engine.ts';
import { approvalSchema, questionSchema } from './interaction.ts';
import { count, isoTime } from '../scalars.ts';
import { sessionSchema } from './session.ts';
import { snapshotSubagentSchema } from './subagent.ts';

export const messageSchema = z
  .object({
    id: z.string(),
    session_id: z.string(),
    role: z.enum(['user', 'assistant', 'tool', 'system']),
    content: z.array(contentPartSchema),
    created_at: isoTime,
    prompt_id: z.string().optional(),
    parent_message_id: z.string().optional(),
    metadata: z.looseObject({ origin: originSchema }).optional(),
  })
  .meta({ id: 'Message' });
export type Message = z.infer<typeof messageSchema>;

export const runningToolSchema = z.object({
  tool_call_id: z.string(),
  name: z.string(),
  args: z.unknown().optional(),
  description: z.string().optional(),
  display: displaySchema.optional(),
  last_progress: z
    .object({
      kind: z.enum(['stdout', 'stderr', 'progress', 'status']),
      text: z.string().optional(),
      percent: z.number().optional(),
    })
    .optional(),
});
export type RunningTool = z.infer<typeof runningToolSchema>;

export const inFlightTurnSchema = z
  .object({
    turn_id: count,
    assistant_text: z.string(),
    assistant_offset: count,
    thinking_text: z.string(),
    thinking_offset: count,
    running_tools: z.array(runningToolSchema),
    current_prompt_id: z.string().optional(),
  })
  .meta({ id: 'InFlightTurn' });
export type InFlightTurn = z.infer<typeof inFlightTurnSchema>;

export const snapshotSchema = z
  .object({
    as_of_seq: count,
    epoch: z.string(),
    session: sessionSchema,
    messages: z.object({ items: z.array(messageSchema), has_more: z.boolean() }),
    in_flight_turn: inFlightTurnSchema.nullable(),
    // Foreground subagents of the main turn.
    subagents: z.array(snapshotSubagentSchema),
    pending_approvals: z.array(approvalSchema),
    pending_questions: z.array(questionSchema),
  })
  .meta({ id: 'SessionSnapshot' });
export type Snapshot = z.infer<typeof snapshotSchema>;
