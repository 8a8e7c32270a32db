/** Waits for a compaction that a person has requested. */
import { MAIN_AGENT, type Signal, type TranscriptState } from '@service-code/client';
import * as z from 'zod';

const ended = z.object({ phase: z.enum(['completed', 'cancelled']) });

type Agents = ReadonlyMap<string, TranscriptState>;

function lastEnd(agents: Agents): { id: string; phase: 'completed' | 'cancelled' } | undefined {
  for (const item of (agents.get(MAIN_AGENT)?.items ?? []).toReversed()) {
    if (item.kind !== 'marker' || item.marker !== 'compaction') continue;
    const { data } = ended.safeParse(item.payload);
    if (data) return { id: item.markerId, phase: data.phase };
  }
  return undefined;
}

/** Starts a compaction and resolves with its end, or as cancelled when the signal aborts; it continues then. */
export async function compacted(
  agents: Agents,
  changes: Signal<string>,
  start: () => Promise<unknown>,
  signal: AbortSignal,
): Promise<'completed' | 'cancelled'> {
  const before = lastEnd(agents)?.id;
  await start();
  return new Promise((resolve) => {
    const check = () => {
      const end = lastEnd(agents);
      if (end === undefined || end.id === before) return;
      stop();
      resolve(end.phase);
    };
    const stop = changes.listen(check);
    const onAbort = () => {
      stop();
      resolve('cancelled');
    };
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    check();
  });
}
