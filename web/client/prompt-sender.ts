/**
 * Prompts that may be sent again without being doubled. Each has an id of its own; one whose reply was lost keeps it,
 * and the server says of an id that it knows that it has it.
 */
import { monotonicFactory } from 'ulid';
import { ApiError, ConnectionError } from './errors.ts';
import type { Rest } from './rest.ts';
import type { ContentPart } from './types.ts';

/** In use, or completed: the earlier try arrived. */
const ARRIVED = [40927, 40903];

const newUlid = monotonicFactory();

/** Sends the prompts of one session; the returned function rejects as the client's calls do. */
export function createPromptSender(rest: Pick<Rest, 'submitPrompt'>, sessionId: string) {
  /** The prompt of which nobody knows whether it arrived. */
  let lost: { id: string; text: string } | undefined;

  return async function send(content: ContentPart[]): Promise<void> {
    const text = JSON.stringify(content);
    // Other words are another prompt, also where the first one did arrive.
    const again = lost?.text === text ? lost : undefined;
    const prompt = again ?? { id: `msg_${newUlid()}`, text };
    try {
      await rest.submitPrompt(sessionId, { prompt_id: prompt.id, content });
    } catch (error) {
      if (error instanceof ConnectionError) lost = prompt;
      if (!again || !(error instanceof ApiError) || !ARRIVED.includes(error.code)) throw error;
    }
    lost = undefined;
  };
}
