/** Waits for a compaction that a person has requested. */
import { RequestError } from '@agentclientprotocol/sdk';
import { MAIN_AGENT, type Item, type Signal, type TranscriptState } from '@service-code/client';
import * as z from 'zod';
import { internal } from './errors.ts';
import { errorNotice, type Outcome } from './stop-reason.ts';

const ended = z.object({ phase: z.enum(['completed', 'cancelled']) });

type Agents = ReadonlyMap<string, TranscriptState>;

const COMPACTED: Outcome = { stopReason: 'end_turn', message: 'The conversation was compacted.' };
const CANCELLED: Outcome = { stopReason: 'cancelled' };

export interface CompactionRequest {
  start(): Promise<unknown>;
  /** Cancels it on the server; rejects when it cannot be reached. */
  abort(): Promise<unknown>;
  /** Reads the newest items of the transcript. */
  read(): Promise<readonly Item[]>;
}

export interface CompactionSignals {
  /** The editor cancels the command. */
  cancelled: AbortSignal;
  /** The session is not followed any more; with a RequestError as its reason: the server was lost. */
  closed: AbortSignal;
}

interface End {
  id: string;
  phase: 'completed' | 'cancelled';
  /** The items that follow it. */
  later: readonly Item[];
}

/** The last end of a compaction. */
function lastEnd(items: readonly Item[]): End | undefined {
  for (const [index, item] of [...items.entries()].toReversed()) {
    if (item.kind !== 'marker' || item.marker !== 'compaction') continue;
    const { data } = ended.safeParse(item.payload);
    if (data) return { id: item.markerId, phase: data.phase, later: items.slice(index + 1) };
  }
  return undefined;
}

/** The outcome of a compaction that the editor has not cancelled. */
async function outcomeOf({ id, phase }: End, request: CompactionRequest): Promise<Outcome> {
  if (phase === 'completed') return COMPACTED;
  // The error is recorded with the end, and its marker may arrive later.
  const end = lastEnd(await request.read());
  const failure = end?.id === id ? errorNotice(end.later) : undefined;
  return failure ? { error: internal(failure.message, { code: failure.code }) } : CANCELLED;
}

/** Starts a compaction and resolves with its outcome. Rejects if the server refuses it or its outcome cannot be read. */
export async function compacted(
  agents: Agents,
  changes: Signal<string>,
  request: CompactionRequest,
  { cancelled, closed }: CompactionSignals,
): Promise<Outcome> {
  const present = () => lastEnd(agents.get(MAIN_AGENT)?.items ?? []);
  const before = present()?.id;
  await request.start();
  const end = await new Promise<End | Outcome>((resolve) => {
    const settle = (result: End | Outcome) => {
      stop();
      cancelled.removeEventListener('abort', onCancel);
      closed.removeEventListener('abort', onClosed);
      resolve(result);
    };
    const check = () => {
      const found = present();
      if (found !== undefined && found.id !== before) settle(found);
    };
    const onCancel = () => void request.abort().catch(() => settle(CANCELLED));
    const onClosed = () => settle(closed.reason instanceof RequestError ? { error: closed.reason } : CANCELLED);
    const stop = changes.listen(check);
    cancelled.addEventListener('abort', onCancel);
    closed.addEventListener('abort', onClosed);
    if (closed.aborted) return onClosed();
    if (cancelled.aborted) onCancel();
    check();
  });
  if (!('phase' in end)) return end;
  // The editor expects this reply after it has cancelled, even if the compaction ended first.
  return cancelled.aborted ? CANCELLED : outcomeOf(end, request);
}
