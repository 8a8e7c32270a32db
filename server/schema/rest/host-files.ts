import * as z from 'zod';

/** A directory of the machine and its subdirectories. */
export const hostDirectorySchema = z
  .object({
    /** Absolute, symbolic links resolved. */
    path: z.string(),
    parent: z.string().nullable(),
    entries: z.array(z.object({ name: z.string(), path: z.string(), is_dir: z.literal(true) })),
  })
  .meta({ id: 'HostDirectory' });
export type HostDirectory = z.infer<typeof hostDirectorySchema>;
