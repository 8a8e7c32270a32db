/** Compaction and undo; the `context.spliced` that accompanies them is in turns.ts. */
import * as z from 'zod';
import { count } from '../scalars.ts';

const trigger = z.enum(['manual', 'auto']);
export type CompactionTrigger = z.infer<typeof trigger>;

export const compactionEvents = {
  'compaction.started': z.object({ trigger, instruction: z.string().optional() }),
  'compaction.blocked': z.object({ turnId: count.optional() }),
  'compaction.completed': z.object({
    result: z.object({
      summary: z.string(),
      compactedCount: count,
      tokensBefore: count,
      tokensAfter: count,
      keptUserMessageCount: count.optional(),
      keptHeadUserMessageCount: count.optional(),
      droppedCount: count.optional(),
    }),
  }),
  'compaction.cancelled': z.object({}),
  'context.undone': z.object({ turns: count }),
};
