/** A skill, or the command of a plugin, as listed for clients. */
import * as z from 'zod';
import { clientArray } from '../client-array.ts';
import { nonEmpty } from '../scalars.ts';
import { filePartSchema, imagePartSchema, videoPartSchema } from './content.ts';

export const skillDescriptorSchema = z
  .object({
    /** Unique case-insensitively; `parent.child` for a nested skill, `<plugin id>:<command>` for a command. */
    name: nonEmpty,
    description: z.string(),
    /** Absolute path of the file; `builtin://<name>` for a shipped skill. */
    path: z.string(),
    source: z.enum(['project', 'user', 'extra', 'builtin']),
    /** The type as the file spells it; `command` for the command of a plugin. */
    type: z.string().optional(),
    disable_model_invocation: z.boolean().optional(),
  })
  .meta({ id: 'SkillDescriptor' });
export type SkillDescriptor = z.infer<typeof skillDescriptorSchema>;

/** More than any client needs; the body limit would admit a million parts. */
const MAX_ATTACHMENTS = 10_000;

const attachmentSchema = z.discriminatedUnion('type', [imagePartSchema, videoPartSchema, filePartSchema], {
  error: 'Invalid input',
});

export const activateSkillSchema = z.object({
  /** The raw text after the name of the command. */
  args: z.string().optional(),
  attachments: clientArray(attachmentSchema, { max: MAX_ATTACHMENTS }).optional(),
});
export type ActivateSkill = z.infer<typeof activateSkillSchema>;
