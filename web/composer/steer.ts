/** Puts a queued prompt into the running turn. */
import { ApiError, type Rest } from '@service-code/client';

/** `prompt.not_found`: the turn is over, or the prompt has left the queue. */
const NOT_PENDING = 40402;

/** False if there is no turn or the prompt does not wait any more: it has started as the next turn. */
export async function steerPrompt(rest: Pick<Rest, 'request'>, sessionId: string, promptId: string): Promise<boolean> {
  try {
    await rest.request('POST /api/v1/sessions/{session_id}/prompts/{prompt_id}:steer', {
      path: { session_id: sessionId, prompt_id: promptId },
    });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code === NOT_PENDING) return false;
    throw error;
  }
}
