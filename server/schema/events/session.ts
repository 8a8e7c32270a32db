/** Events of a session as a whole. Each value is the payload without routing fields. */
import * as z from 'zod';
import { errorPayloadSchema } from '../engine.ts';
import { pendingInteraction, turnOutcome } from '../scalars.ts';
import { sessionSchema } from '../rest/session.ts';

export const sessionEvents = {
  'event.session.created': z.object({ session: sessionSchema }),
  'event.session.work_changed': z.object({
    busy: z.boolean(),
    main_turn_active: z.boolean(),
    pending_interaction: pendingInteraction,
    last_turn_reason: turnOutcome.optional(),
  }),
  'session.meta.updated': z.object({
    title: z.string().optional(),
    patch: z.object({
      title: z.string().optional(),
      isCustomTitle: z.boolean().optional(),
      lastPrompt: z.string().optional(),
    }),
  }),
  'agent.created': z.object({}),
  'agent.disposed': z.object({}),
  error: errorPayloadSchema,
  warning: z.object({ message: z.string(), code: z.string().optional() }),
};
