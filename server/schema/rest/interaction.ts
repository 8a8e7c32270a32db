/** Approvals and questions that a turn raises for the user, and the answers. */
import * as z from 'zod';
import { displaySchema } from './display.ts';
import { count, isoTime, nonEmpty } from '../scalars.ts';

export const approvalSchema = z
  .object({
    approval_id: z.string(),
    session_id: z.string(),
    agent_id: z.string(),
    turn_id: count.optional(),
    tool_call_id: nonEmpty,
    tool_name: nonEmpty,
    action: z.string(),
    tool_input_display: displaySchema,
    created_at: isoTime,
    expires_at: isoTime,
  })
  .meta({ id: 'ApprovalRequest' });
export type Approval = z.infer<typeof approvalSchema>;

export const decisionSchema = z.enum(['approved', 'rejected', 'cancelled']);
export type ApprovalDecision = z.infer<typeof decisionSchema>;

export const resolveApprovalSchema = z.object({
  decision: decisionSchema,
  scope: z.literal('session').optional(),
  feedback: z.string().optional(),
  selected_label: z.string().optional(),
});
export type ResolveApproval = z.infer<typeof resolveApprovalSchema>;

const questionItemSchema = z.object({
  id: z.string(),
  question: nonEmpty,
  options: z
    .array(z.object({ id: z.string(), label: nonEmpty, description: z.string().optional() }))
    .min(2)
    .max(4),
  header: z.string().optional(),
  body: z.string().optional(),
  multi_select: z.boolean().optional(),
  allow_other: z.boolean().optional(),
  other_label: z.string().optional(),
  other_description: z.string().optional(),
});

export const questionSchema = z
  .object({
    question_id: z.string(),
    session_id: z.string(),
    questions: z.array(questionItemSchema).min(1).max(4),
    created_at: isoTime,
    agent_id: z.string().optional(),
    turn_id: count.optional(),
    tool_call_id: nonEmpty.optional(),
  })
  .meta({ id: 'QuestionRequest' });
export type Question = z.infer<typeof questionSchema>;

const questionAnswerSchema = z.discriminatedUnion(
  'kind',
  [
    z.object({ kind: z.literal('single'), option_id: nonEmpty }),
    z.object({ kind: z.literal('multi'), option_ids: z.array(nonEmpty).min(1).max(100) }),
    z.object({ kind: z.literal('other'), text: z.string() }),
    z.object({ kind: z.literal('multi_with_other'), option_ids: z.array(nonEmpty).max(100), other_text: z.string() }),
    z.object({ kind: z.literal('skipped') }),
  ],
  { error: 'Invalid input' },
);
export type QuestionAnswer = z.infer<typeof questionAnswerSchema>;

export const answerQuestionSchema = z.object({
  /** Keyed by item id. */
  answers: z.record(nonEmpty, questionAnswerSchema),
  method: z.enum(['enter', 'space', 'number_key', 'click']).optional(),
  note: z.string().optional(),
});
export type AnswerQuestion = z.infer<typeof answerQuestionSchema>;
