/** Prompts: in replies, and as clients submit them. */
import * as z from 'zod';
import { clientArray } from '../client-array.ts';
import { contentPartSchema } from './content.ts';
import { isoTime, nonEmpty, permissionModeSchema } from '../scalars.ts';

export const promptSchema = z
  .object({
    prompt_id: z.string(),
    user_message_id: z.string(),
    status: z.enum(['running', 'queued', 'blocked']),
    content: z.array(contentPartSchema),
    created_at: isoTime,
  })
  .meta({ id: 'Prompt' });
export type Prompt = z.infer<typeof promptSchema>;

/** More than any client needs; the body limit would admit a million parts. */
const MAX_PARTS = 10_000;

export const submitPromptSchema = z.object({
  content: clientArray(contentPartSchema, { min: 1, max: MAX_PARTS }),
  agent_id: nonEmpty.optional(),
  prompt_id: nonEmpty.optional(),
  skills: clientArray(z.object({ name: nonEmpty, args: z.string().optional() }), { min: 1 }).optional(),
  profile: nonEmpty.optional(),
  model: nonEmpty.optional(),
  thinking: nonEmpty.optional(),
  permission_mode: permissionModeSchema.optional(),
  disabled_tools: clientArray(z.string()).optional(),
  // Accepted for older clients; a submit ignores them.
  metadata: z.record(z.string(), z.unknown()).optional(),
  plan_mode: z.boolean().optional(),
  swarm_mode: z.boolean().optional(),
  goal_objective: z.string().optional(),
  goal_control: z.enum(['pause', 'resume', 'cancel']).optional(),
});
export type SubmitPrompt = z.infer<typeof submitPromptSchema>;
