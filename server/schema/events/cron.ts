/** Scheduled prompts. */
import { z } from 'zod';

export const cronEvents = {
  'cron.fired': z.object({
    origin: z.object({
      kind: z.literal('cron_job'),
      jobId: z.string(),
      cron: z.string(),
      recurring: z.boolean(),
      coalescedCount: z.number().int(),
      stale: z.boolean(),
    }),
    prompt: z.string(),
  }),
};
