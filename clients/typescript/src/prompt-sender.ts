/**
 * Idempotent sending of prompts. Each prompt has an id; after a lost reply the retry reuses it, and the server refuses
 * an id that it already has.
 */
import { monotonicFactory } from 'ulid';
import { ApiError, ConnectionError } from './errors.ts';
import type { CallOptions } from './operations.ts';
import type { Rest } from './rest.ts';
import type { SubmitPrompt } from './types.ts';

/** `prompt.id_conflict` and `prompt.already_completed`: the earlier attempt has arrived. */
const ARRIVED = [40927, 40903];

const newUlid = monotonicFactory();

/** Sends a prompt; resolves to its id, and rejects as the client's calls do. */
export type PromptSender = (content: SubmitPrompt['content'], options?: CallOptions) => Promise<string>;

/** Sends the prompts of one session. */
export function createPromptSender(rest: Pick<Rest, 'submitPrompt'>, sessionId: string): PromptSender {
  /** The prompt whose reply was lost, so that its arrival is unknown. */
  let lost: { id: string; text: string } | undefined;

  return async function send(content, options) {
    const text = JSON.stringify(content);
    // A changed text is a different prompt, even if the first one did arrive.
    const again = lost?.text === text ? lost : undefined;
    const prompt = again ?? { id: `msg_${newUlid()}`, text };
    try {
      await rest.submitPrompt(sessionId, { prompt_id: prompt.id, content }, options);
    } catch (error) {
      if (error instanceof ConnectionError || options?.signal?.aborted) lost = prompt;
      if (!again || !(error instanceof ApiError) || !ARRIVED.includes(error.code)) throw error;
    }
    lost = undefined;
    return prompt.id;
  };
}
