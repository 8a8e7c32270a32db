/** Scheduled prompts. */
import * as z from 'zod';
import { cronJobOriginSchema } from '../engine.ts';

export const cronEvents = {
  'cron.fired': z.object({
    origin: cronJobOriginSchema,
    prompt: z.string(),
  }),
};
