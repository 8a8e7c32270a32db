/** Lines of stdin that answer approvals and questions. */
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import * as z from 'zod';

const approvalSchema = z.strictObject({
  approval_id: z.string().min(1),
  decision: z.enum(['approved', 'rejected', 'cancelled']),
  scope: z.literal('session').optional(),
  feedback: z.string().optional(),
  selected_label: z.string().optional(),
});

const answerSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('single'), option_id: z.string().min(1) }),
  z.strictObject({ kind: z.literal('multi'), option_ids: z.array(z.string().min(1)).min(1) }),
  z.strictObject({ kind: z.literal('other'), text: z.string() }),
  z.strictObject({
    kind: z.literal('multi_with_other'),
    option_ids: z.array(z.string().min(1)),
    other_text: z.string(),
  }),
  z.strictObject({ kind: z.literal('skipped') }),
]);

/** By the id of the item. Checked before `z.record`, which drops a member `__proto__` without an issue. */
const answersSchema = z
  .unknown()
  .refine((value) => !(value instanceof Object && Object.hasOwn(value, '__proto__')), "no item has the id '__proto__'")
  .pipe(z.record(z.string().min(1), answerSchema));

const questionSchema = z.strictObject({
  question_id: z.string().min(1),
  /** Without them the question is dismissed. */
  answers: answersSchema.optional(),
});

const lineSchema = z.union([approvalSchema, questionSchema]);

export type AnswerLine = z.infer<typeof lineSchema>;

/** Parses one line; a text is the reason why it is refused. */
export function parseAnswer(line: string): AnswerLine | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return 'the line is not JSON';
  }
  const isQuestion = typeof value === 'object' && value !== null && 'question_id' in value;
  const parsed = (isQuestion ? questionSchema : approvalSchema).safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  return `${issue?.path.join('.') || 'line'}: ${issue?.message}`;
}

/** Calls `onLine` for each line that is not empty, and `onEnd` after the last one. */
export function readLines(input: Readable, onLine: (line: string) => void, onEnd: () => void): { close(): void } {
  const lines = createInterface({ input, crlfDelay: Infinity, terminal: false });
  lines.on('line', (line) => {
    if (line.trim() !== '') onLine(line);
  });
  lines.on('close', onEnd);
  return {
    close() {
      lines.off('close', onEnd);
      lines.close();
    },
  };
}
