/** Uploaded files: in replies, and the form that uploads one. */
import * as z from 'zod';
import { count, isoTime, nonEmpty } from '../scalars.ts';

export const uploadSchema = z
  .object({
    id: nonEmpty,
    name: nonEmpty,
    media_type: nonEmpty,
    size: count,
    created_at: isoTime,
    /** Absent if the file never expires. */
    expires_at: isoTime.optional(),
  })
  .meta({ id: 'File' });
export type Upload = z.infer<typeof uploadSchema>;

export const uploadFormSchema = z.object({
  file: z.string().meta({ format: 'binary' }),
  name: z.string().optional(),
  expires_in_sec: z.number().min(0).optional(),
});
