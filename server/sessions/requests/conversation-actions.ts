/** Actions of clients on the running turn and on waiting prompts of a session, over REST and over their WebSocket. */
import { defineFrame, type FrameHandler } from '#server/events/frame-handler.ts';
import { abortFrame } from '#schema/frames/prompts.ts';
import type { LiveSessions } from '../live/live-sessions.ts';

export interface ConversationActions {
  abortTurn(id: string): Promise<{ aborted: true }>;
  /**
   * Aborts a prompt; `at_seq` is the watermark at acceptance. Throws `session.not_found`, `prompt.not_found` or
   * `prompt.already_completed`.
   */
  abort(id: string, promptId: string): Promise<{ aborted: true; at_seq: number }>;
  /** Moves queued prompts into the running turn. Throws `session.not_found`, `prompt.not_found` or `session.busy`. */
  steer(id: string, promptIds: readonly string[]): Promise<void>;
}

export function createConversationActions({ use }: Pick<LiveSessions, 'use'>): ConversationActions {
  /** Only the server that runs a turn can cancel it. */
  async function abortTurn(id: string): Promise<{ aborted: true }> {
    return use(id, async ({ log, agents }) => {
      await log.assertNotHeld();
      agents.main.cancelTurn();
      return { aborted: true };
    });
  }

  async function abort(id: string, promptId: string): Promise<{ aborted: true; at_seq: number }> {
    return use(id, async ({ log, agents }) => {
      await log.assertNotHeld();
      const at_seq = log.position().seq;
      agents.abortPrompt(promptId);
      return { aborted: true, at_seq };
    });
  }

  async function steer(id: string, promptIds: readonly string[]): Promise<void> {
    await use(id, async ({ log, agents }) => {
      await log.assertNotHeld();
      agents.steer(promptIds);
    });
  }

  return { abortTurn, abort, steer };
}

/** The handlers of the sessions' request frames. */
export const sessionFrames = (actions: Pick<ConversationActions, 'abort'>): FrameHandler[] => [
  defineFrame(abortFrame, {
    // A cancellation overtakes earlier requests.
    lane: 'control',
    handle: ({ session_id, prompt_id }) => actions.abort(session_id, prompt_id),
  }),
];
