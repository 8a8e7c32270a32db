/**
 * Undo: removes the last turns of the main agent's conversation. Their effects remain: files, tasks, goal, usage and
 * approvals.
 */
import type { SessionContext } from '../contract/context.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { contextSize } from '#server/journal/context-size.ts';
import { readContext, type ContextState } from '#server/journal/projections/context.ts';
import { event, type Draft } from '#server/journal/records.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { ContextMessage } from '#schema/engine.ts';
import { cutOf } from './cut.ts';

/** Returns the text of a prompt in lists. */
export type PromptText = (prompt: ContextMessage) => string;

/**
 * Removes the last `count` turns, all or none. Throws `session.busy`, `session.undo_unavailable`,
 * `persistence.failure`.
 */
export async function undoTurns(session: SessionContext, count: number, promptText: PromptText): Promise<void> {
  const { log, agents } = session;
  const context = () => readContext(log.state.context, MAIN_AGENT);
  const cut = () => {
    assertQuiet(session);
    return cutOf(context(), count);
  };
  await log.assertNotHeld();
  // Checked before the claim, so that a refused undo does not even acquire the lock.
  cut();
  await log.claim();
  for (;;) {
    const { start, remaining } = cut();
    const last = context().entries[remaining]?.message;
    const shown = last && (await log.load({ last }));
    const now = cut();
    // Another request has changed the conversation meanwhile.
    if (now.start !== start || context().entries[remaining]?.message !== last) continue;
    undoFrom(session, start, count, shown ? promptText(shown.last) : '');
    break;
  }
  agents.main.context.publishStatus({});
  session.changed();
}

function undoFrom({ log, agents }: SessionContext, start: number, turns: number, lastPrompt: string): void {
  agents.main.context.config.create();
  log.append(undoRecords(readContext(log.state.context, MAIN_AGENT), start, turns, lastPrompt));
}

/** Returns the records of an undo, which remove the entries from `start` on from the main agent's context. */
export function undoRecords(context: ContextState, start: number, turns: number, lastPrompt: string): Draft[] {
  const { entries } = context;
  const tokens = contextSize({ ...context, entries: entries.slice(0, start) });
  const removed = { start, deleteCount: entries.length - start, messages: [], tokens };
  return [
    event(MAIN_AGENT, 'context.spliced', removed, { cause: 'undo' }),
    event(MAIN_AGENT, 'session.meta.updated', { patch: { lastPrompt } }),
    event(MAIN_AGENT, 'context.undone', { turns }),
  ];
}

/** Throws `session.busy` while a turn or a compaction may still add to the conversation. */
function assertQuiet({ agents, log }: SessionContext): void {
  const { turns, compactions } = log.state.activity;
  if (compactions.has(MAIN_AGENT)) throw busy('the conversation is being compacted');
  if (turns.has(MAIN_AGENT) || !agents.main.idle()) throw busy('a turn is active or queued');
}

const busy = (why: string) =>
  new ServiceError('session.busy', `Cannot undo while ${why}. Wait for it to finish, then retry.`);
