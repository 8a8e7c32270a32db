/** The texts of a turn's line about its work. */
import { message, type Message } from '../messages/messages.ts';
import { tokenCount } from '../render/tokens.ts';
import type { WorkRow } from './rows.ts';

/** Time, steps and changed files; `now` in ms since the epoch. */
export function workLine(row: WorkRow, now: number): Message[] {
  const { state, steps, files, added, removed } = row;
  const ms = timeOf(row, now);
  const worked =
    ms === undefined
      ? message('conversation.workedUntimed')
      : message(state === 'running' ? 'conversation.working' : 'conversation.worked', { ms });
  return [
    worked,
    ...(steps > 1 ? [message('conversation.steps', { count: steps })] : []),
    ...(files > 0 ? [message('conversation.files', { count: files })] : []),
    ...(added + removed > 0 ? [message('conversation.lines', { added, removed })] : []),
  ];
}

function timeOf({ state, durationMs, startedAt }: WorkRow, now: number): number | undefined {
  if (durationMs !== undefined) return durationMs;
  return state === 'running' && startedAt !== undefined ? now - Date.parse(startedAt) : undefined;
}

/** The details on hover; money only if the server sends it. `model`: where it is certain. */
export function workDetails(row: WorkRow, now: number, model: string | undefined): Message[] {
  const { inputTokens = 0, outputTokens = 0, cachedTokens = 0, cost } = row.usage ?? {};
  const ms = timeOf(row, now);
  const tokens = { input: tokenCount(inputTokens), output: tokenCount(outputTokens), cached: tokenCount(cachedTokens) };
  return [
    ...(ms === undefined ? [] : [message('conversation.took', { ms })]),
    ...(row.usage ? [message('conversation.tokens', tokens)] : []),
    ...(model === undefined ? [] : [message('conversation.model', { name: model })]),
    ...(cost === undefined ? [] : [message('conversation.price', { price: `$${cost.toFixed(cost < 0.1 ? 4 : 2)}` })]),
  ];
}
