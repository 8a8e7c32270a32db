/** A skill, or the command of a plugin, as listed for clients. */
import { z } from 'zod';
import { nonEmpty } from '../scalars.ts';

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
