/**
 * Compaction: a summary replaces a conversation that has grown too long for its model: automatically before a step,
 * after a request that did not fit, or on request of a user.
 */
import type { AgentContext, SessionContext } from '#server/agent/contract/context.ts';
import type { Feature, LiveFeature, NearStep } from '#server/agent/contract/feature.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { contextSize } from '#server/journal/context-size.ts';
import type { ContextEntry } from '#server/journal/projections/context.ts';
import { contextLimit } from '#server/models/budget.ts';
import { compact } from './compact.ts';
import { exceedsKept } from './kept.ts';
import { compactionSettings } from './settings.ts';
import { compactionTranscript } from './transcript.ts';
import { createObservedWindows, isFull, isOverflow } from './window.ts';
import type { TurnModel } from '#server/agent/contract/config.ts';

interface CompactionPart extends LiveFeature {
  /**
   * Starts to compact the main agent's context; the session must be claimed. Progress is published as events. Throws
   * `compaction.unable` if the context cannot be compacted, and `session.busy` while the session is being closed.
   */
  start(instruction: string | undefined): void;
}

/** State of compaction in one turn. */
interface TurnContext {
  turnId: number;
  /** Size of the context right after the turn's last compaction, in tokens; 0 without one. */
  compactedTo: number;
  /** A request of the turn did not fit the model's window. */
  overflowed: boolean;
}

function open(session: SessionContext): CompactionPart {
  const windows = createObservedWindows();
  /** State of the running turns, by agent. */
  const turns = new Map<string, TurnContext>();

  const windowOf = ({ model }: TurnModel) => windows.of(model.alias, contextLimit(model) ?? 0);

  function turnOf(agentId: string, turnId: number): TurnContext {
    const known = turns.get(agentId);
    return known?.turnId === turnId ? known : { turnId, compactedTo: 0, overflowed: false };
  }

  function isDue(agent: AgentContext, { turnId, frozen }: NearStep): boolean {
    const { overflowed, compactedTo } = turnOf(agent.id, turnId);
    if (overflowed) return true;
    const { entries } = agent.state();
    const size = contextSize(agent.state());
    const limits = compactionSettings(session.config.effective());
    return isFull(size, windowOf(frozen), limits) && size > compactedTo && isWorthIt(entries);
  }

  async function compactInTurn(agent: AgentContext, { turnId, frozen, signal }: NearStep): Promise<void> {
    await compact(agent, { turnId, frozen: () => frozen, window: windowOf, signal });
    turns.set(agent.id, { turnId, compactedTo: contextSize(agent.state()), overflowed: false });
  }

  return {
    beforeStep: (agent, step) => (isDue(agent, step) ? compactInTurn(agent, step) : undefined),
    onContextOverflow({ id, state }, { turnId, frozen, error }) {
      const size = contextSize(state());
      if (!isOverflow(error, size, windowOf(frozen))) return false;
      windows.refused(frozen.model.alias, size);
      turns.set(id, { ...turnOf(id, turnId), overflowed: true });
      return true;
    },
    onTurnEnd({ id }) {
      turns.delete(id);
      return {};
    },

    start(instruction) {
      const { main } = session.agents;
      const { context } = main;
      if (session.log.state.activity.compactions.has(main.id)) throw unable('A compaction is running already.');
      if (!hasHistory(context.state().entries)) throw unable('No messages to compact in current history.');
      const work = main.exclusively(async (signal) => {
        // The reply to the request is sent first.
        await new Promise<void>((resolve) => setImmediate(resolve));
        context.config.create();
        await compact(context, { instruction, frozen: () => context.config.present(), window: windowOf, signal });
      });
      if (!work) throw unable('A turn is active or queued. Wait for it to finish, then retry.');
      // Other outcomes are in the journal; only a failed write is reported nowhere else.
      work.catch((error: unknown) => {
        if (session.log.readOnly) session.report(`a compaction of ${session.id} could not be recorded`, error);
      });
    },
  };
}

const unable = (message: string) => new ServiceError('compaction.unable', message);

/** Whether the context has more than reminders of the server. */
const hasHistory = (entries: readonly ContextEntry[]): boolean =>
  entries.some(({ message: { origin } }) => origin?.kind !== 'injection');

/**
 * Whether a summary would be shorter than the context: it has an answer of the model, or more of the user's messages
 * than a compaction retains.
 */
const isWorthIt = (entries: readonly ContextEntry[]): boolean =>
  entries.some(
    ({ message: { role, content, toolCalls } }) => role === 'assistant' && content.length + toolCalls.length > 0,
  ) || exceedsKept(entries.map(({ message }) => message));

export const compaction: Feature<CompactionPart> = { name: 'compaction', transcript: compactionTranscript, open };
