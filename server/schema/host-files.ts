import { z } from 'zod';

/** A directory of the machine, and those in it. */
export const hostDirectorySchema = z
  .object({
    /** Links resolved. */
    path: z.string(),
    parent: z.string().nullable(),
    entries: z.array(z.object({ name: z.string(), path: z.string(), is_dir: z.literal(true) })),
  })
  .meta({ id: 'HostDirectory' });
export type HostDirectory = z.infer<typeof hostDirectorySchema>;
