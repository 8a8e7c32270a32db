/** Descriptions of calls that the server sends for people: the command, the changed file, the plan. */
import * as z from 'zod';

const displaySchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('command'), command: z.string(), description: z.string().optional() }),
  z.object({
    kind: z.literal('file_io'),
    operation: z.enum(['read', 'write', 'edit', 'glob', 'grep']),
    path: z.string(),
    detail: z.string().optional(),
    content: z.string().optional(),
    before: z.string().optional(),
    after: z.string().optional(),
  }),
  z.object({ kind: z.literal('search'), query: z.string() }),
  z.object({ kind: z.literal('url_fetch'), url: z.string() }),
  z.object({ kind: z.literal('agent_call'), agent_name: z.string(), prompt: z.string() }),
  z.object({ kind: z.literal('skill_call'), skill_name: z.string(), args: z.string().optional() }),
  z.object({
    kind: z.literal('plan_review'),
    plan: z.string(),
    path: z.string().optional(),
    options: z.array(z.object({ label: z.string(), description: z.string().optional() })).optional(),
  }),
  z.object({ kind: z.literal('goal_start'), objective: z.string() }),
]);
export type KnownDisplay = z.infer<typeof displaySchema>;

/** Undefined for a call without a display, and for kinds that need no treatment of their own. */
export function displayOf(value: unknown): KnownDisplay | undefined {
  const { success, data } = displaySchema.safeParse(value);
  return success ? data : undefined;
}
