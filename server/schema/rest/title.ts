/** Generated titles of sessions on the wire. */
import * as z from 'zod';

/** The part of the conversation that a title is generated from. */
const titleSourceSchema = z.enum(['user_prompts', 'first_turn', 'digest']);
export type TitleSource = z.infer<typeof titleSourceSchema>;

export const generateTitleSchema = z.object({
  force: z.boolean().default(false),
  source: titleSourceSchema.default('user_prompts'),
});
export type GenerateTitle = z.infer<typeof generateTitleSchema>;

export const generatedTitleSchema = z.object({ title: z.string() });
