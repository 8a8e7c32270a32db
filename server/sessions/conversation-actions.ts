/** What clients do with the conversation of a session besides prompting it. */
import { openSideConversation } from '#server/features/btw/btw.ts';
import { compaction } from '#server/features/compaction/compaction.ts';
import { undoTurns } from '#server/agent/undo/undo.ts';
import type { ModelChecks } from '#server/models/model-checks.ts';
import type { SessionStatus } from '#schema/session.ts';
import type { LiveSessions } from './live-sessions.ts';
import type { MessagePage } from './message-page.ts';
import { promptText } from './prompt-text.ts';
import { createSessionReader, type ViewConfiguration } from './session-views.ts';

export interface UndoRequest {
  /** Turns; 1 unless given. */
  count?: number | undefined;
  /** Messages of the reply. */
  page_size?: number | undefined;
}

/** What remains of the conversation. */
export interface Undone {
  messages: MessagePage;
  status: SessionStatus;
}

export interface ConversationActions {
  abortTurn(id: string): Promise<{ aborted: true }>;
  /** Begins to compact the main agent's context. Throws 40401, 40901, 40910, 50003. */
  compact(id: string, instruction: string | undefined): Promise<Record<never, never>>;
  /** Opens a side conversation. Throws 40110 to 40113, 40401, 40901, 50003. */
  openSideConversation(id: string): Promise<{ agent_id: string }>;
  /** Aborts a prompt; `at_seq` is the watermark at acceptance. Throws 40401, 40402 or 40903. */
  abort(id: string, promptId: string): Promise<{ aborted: true; at_seq: number }>;
  /** Puts waiting prompts into the turn that runs. Throws 40401, 40402 or 40901. */
  steer(id: string, promptIds: readonly string[]): Promise<void>;
  /** Takes back turns of the conversation, all or none. Throws 40401, 40901, 40911, 50003. */
  undo(id: string, request: UndoRequest): Promise<Undone>;
}

export interface ConversationDeps {
  use: LiveSessions['use'];
  models: ModelChecks;
  views: ViewConfiguration;
}

export function createConversationActions({ use, models, views }: ConversationDeps): ConversationActions {
  /** Only the server that runs a turn can end it. */
  async function abortTurn(id: string): Promise<{ aborted: true }> {
    return use(id, async ({ log, agents }) => {
      await log.assertNotHeld();
      agents.main.cancelTurn();
      return { aborted: true };
    });
  }

  async function compact(id: string, instruction = ''): Promise<Record<never, never>> {
    return use(id, async ({ log, context }) => {
      await log.claim();
      context.feature(compaction).start(instruction.trim() || undefined);
      return {};
    });
  }

  async function openSide(id: string): Promise<{ agent_id: string }> {
    return use(id, async (session) => {
      await models.assertReady(session.mainFacts().model);
      await session.log.claim();
      return { agent_id: await openSideConversation(session.context, models.defaultModel()) };
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

  async function undo(id: string, { count = 1, page_size }: UndoRequest): Promise<Undone> {
    return use(id, async (session) => {
      await undoTurns(session.context, count, promptText);
      const { contextMessages, status } = createSessionReader(session, views);
      // As of one moment: nothing is awaited between the two.
      const [messages, rollup] = [contextMessages(page_size), status()];
      return { messages: await messages, status: rollup };
    });
  }

  return { abortTurn, compact, openSideConversation: openSide, abort, steer, undo };
}
