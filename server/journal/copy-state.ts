/** A fold as it is at one moment, apart from the one that goes on; so a copied journal need not be folded again. */
import type { LogState } from './fold.ts';
import type { JournalHeader } from './header.ts';
import type { ContextState, Contexts } from './projections/context.ts';
import { BlobText } from './texts.ts';

/** A state that later changes of the original do not reach. What folds replace and never change is shared. */
export function copyState(state: LogState): LogState {
  const seen = new Map<object, object>();
  const { context, messages, features, ...rest } = state;
  const own = { projections: features.projections, states: copied(features.states, seen) };
  return {
    ...copied(rest, seen),
    context: copyContexts(context, own, seen),
    messages: { ...copied({ ...messages, history: [] }, seen), history: [...messages.history] },
    features: own,
  };
}

function copyContexts({ agents }: Contexts, features: LogState['features'], seen: Map<object, object>): Contexts {
  const copies = [...agents].map(([id, context]): [string, ContextState] => {
    const { entries, anchors, ...rest } = context;
    return [id, { ...copied(rest, seen), entries: [...entries], anchors: [...anchors] }];
  });
  return { agents: new Map(copies), features };
}

/**
 * Makes the state of a journal that of its copy, which has this header and the same lines so many bytes further on:
 * what folding them there gives.
 */
export function becomeCopy(state: LogState, header: JournalHeader, shift: number): void {
  const { messages, index } = state;
  messages.sessionId = header.session_id;
  messages.history = messages.history.map((place) =>
    place.line === undefined ? place : { ...place, line: place.line + shift },
  );
  index.createdAt = header.created_at;
  index.forkedFrom = header.forked_from?.session_id;
}

/** A copy of plain data; what stands in it twice does so in the copy. */
function copied<T>(value: T, seen: Map<object, object>): T {
  // A copy has the type of what it is made of.
  return copyOf(value, seen) as T;
}

function copyOf(value: unknown, seen: Map<object, object>): unknown {
  if (typeof value !== 'object' || value === null || value instanceof BlobText) return value;
  const known = seen.get(value);
  if (known) return known;
  if (Array.isArray(value)) {
    const copy: unknown[] = [];
    seen.set(value, copy);
    for (const item of value) copy.push(copyOf(item, seen));
    return copy;
  }
  if (value instanceof Map) {
    const copy = new Map<unknown, unknown>();
    seen.set(value, copy);
    for (const [key, item] of value) copy.set(key, copyOf(item, seen));
    return copy;
  }
  if (value instanceof Set) {
    const copy = new Set<unknown>();
    seen.set(value, copy);
    for (const item of value) copy.add(copyOf(item, seen));
    return copy;
  }
  const copy: Record<string, unknown> = {};
  seen.set(value, copy);
  for (const [key, member] of Object.entries(value)) copy[key] = copyOf(member, seen);
  return copy;
}
