/** Actions of clients on the running turn and on the queued prompts of a session. */
import type { LiveSessions } from '#server/sessions/live/live-sessions.ts';

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
