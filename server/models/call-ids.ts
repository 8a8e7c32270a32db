import type { ContextMessage } from '#schema/engine.ts';

const MAX_ID_CHARS = 64;
/** Fast path for ids that need no change: the whole history is mapped for each request. */
const FITTING = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Maps the tool call ids of a history to ids every server accepts: `[A-Za-z0-9_-]`, at most 64 characters, collisions
 * numbered `_2`, `_3` … Deterministic, for calls and results alike; the mapping of earlier messages does not change
 * when messages are added.
 * @param cutAtPipe Responses API: the part after `|` is not part of the call id.
 */
export function sanitizeCallIds(messages: readonly ContextMessage[], cutAtPipe = false): (id: string) => string {
  const mapped = new Map<string, string>();
  const taken = new Set<string>();

  function map(id: string): string {
    const known = mapped.get(id);
    if (known !== undefined) return known;
    const base = FITTING.test(id) ? id : fitted(cutAtPipe ? id.replace(/\|.*$/s, '') : id);
    let wire = base;
    for (let n = 2; taken.has(wire) || wire === ''; n++) {
      const suffix = `_${n}`;
      wire = base.slice(0, MAX_ID_CHARS - suffix.length) + suffix;
    }
    mapped.set(id, wire);
    taken.add(wire);
    return wire;
  }

  for (const message of messages) for (const call of message.toolCalls) map(call.id);
  return map;
}

const fitted = (id: string) => id.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_ID_CHARS);
