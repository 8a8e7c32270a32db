/** Tool calls, approvals and questions. */
import * as z from 'zod';
import { displaySchema } from '../rest/display.ts';
import { toolOutputSchema } from '../engine.ts';
import { approvalSchema, decisionSchema, questionSchema } from '../rest/interaction.ts';
import { count, isoTime } from '../scalars.ts';

const permission = {
  id: z.string(),
  turnId: count,
  toolCallId: z.string(),
  toolName: z.string(),
  action: z.string(),
  display: displaySchema,
  toolInput: z.unknown(),
};

export const toolEvents = {
  'tool.call.started': z.object({
    turnId: count,
    toolCallId: z.string(),
    name: z.string(),
    args: z.unknown(),
    description: z.string().optional(),
    display: displaySchema.optional(),
  }),
  'tool.result': z.object({
    turnId: count,
    toolCallId: z.string(),
    output: toolOutputSchema,
    isError: z.literal(true).optional(),
    synthetic: z.literal(true).optional(),
  }),
  'permission.approval.requested': z.object(permission),
  'permission.approval.resolved': z.object({
    ...permission,
    decision: z.enum(['approved', 'rejected', 'cancelled', 'error']),
    scope: z.literal('session').optional(),
    feedback: z.string().optional(),
    selectedLabel: z.string().optional(),
    error: z.string().optional(),
  }),
  'event.approval.requested': approvalSchema,
  'event.approval.resolved': z.object({
    approval_id: z.string(),
    decision: decisionSchema,
    scope: z.literal('session').optional(),
    feedback: z.string().optional(),
    selected_label: z.string().optional(),
    resolved_at: isoTime,
  }),
  'event.question.requested': questionSchema,
  'event.question.answered': z.object({
    question_id: z.string(),
    answers: z.record(z.string(), z.string()),
    resolved_at: isoTime,
  }),
  'event.question.dismissed': z.object({ question_id: z.string(), dismissed_at: isoTime }),
};
