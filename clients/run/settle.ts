/** Ending a run before its turn has ended. */
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, type Rest } from '@service-code/client';
import type { Turn } from './turn.ts';

/** Time in which a cancelled turn settles. */
const SETTLE_MS = 10_000;
const RETRY_MS = 50;
const NOT_FOUND = 40402;

/** Rejects with the signal's reason as soon as it is aborted. */
export async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Cancels the prompt, also one whose request has not arrived yet, and waits until it has settled. */
export async function settlePrompt(
  rest: Rest,
  sessionId: string,
  submitted: Promise<unknown>,
  turn: Turn,
): Promise<void> {
  const signal = AbortSignal.timeout(SETTLE_MS);
  let isAnswered = false;
  const onAnswer = () => void (isAnswered = true);
  submitted.then(onAnswer, onAnswer);
  try {
    while (!(await abort())) await delay(RETRY_MS, undefined, { signal });
    await unlessAborted(signal, turn.ended);
  } catch {
    // The server does not answer, or the turn takes longer.
  }

  /** Resolves to false if the prompt may still arrive. */
  async function abort(): Promise<boolean> {
    const mayArrive = !isAnswered;
    try {
      await rest.abortPrompt(sessionId, turn.promptId(), { signal });
      return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === NOT_FOUND && mayArrive) return false;
      // It has settled, or never arrived.
      if (error.code === NOT_FOUND) throw error;
      return true;
    }
  }
}
