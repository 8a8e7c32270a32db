/** Records of plain turns, appended to a claimed log. */
import { event, internal, type Draft } from '#server/journal/records.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import type { Text } from '#server/journal/texts.ts';

const usage = { inputOther: 10, output: 3, inputCacheRead: 5, inputCacheCreation: 1 };

/** Creation of the main agent, and its configuration. */
export const agentConfig = (): Draft[] => [
  event('main', 'agent.created', {}, { kind: 'main' }),
  internal('main', 'agent.config', { model: 'm1', permission: 'manual', maxContextTokens: 100_000 }),
];

/** A turn of one step and one text, which streams before it is recorded. */
export function shortTurn(log: SessionLog, turnId: number, text: Text = `Answer ${turnId}.`): void {
  const at = { turnId, step: 1, stepId: `step-${turnId}` };
  log.append([
    event('main', 'turn.started', { turnId, origin: { kind: 'user' }, prompt: `Question ${turnId}` }),
    event('main', 'turn.step.started', at),
  ]);
  if (typeof text === 'string') {
    const half = Math.ceil(text.length / 2);
    for (const delta of [text.slice(0, half), text.slice(half)]) {
      log.volatile('main', 'assistant.delta', { turnId, delta });
    }
  }
  log.append([
    internal('main', 'step.response', { ...at, parts: [{ type: 'text', text }], calls: [], model: 'm1', usage }),
    event('main', 'turn.step.completed', { ...at, usage, finishReason: 'end_turn' }),
    event('main', 'turn.ended', { turnId, reason: 'completed', durationMs: 5 }),
  ]);
}
