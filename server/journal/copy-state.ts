/** Snapshot of a fold that is independent of the live one, so that a copied journal need not be folded again. */
import type { LogState } from './fold.ts';
import type { JournalHeader } from './header.ts';
import type { ContextState, Contexts } from './projections/context.ts';
import { BlobText } from './texts.ts';

/** Copies a state, so that later changes do not affect the copy. Objects that folds never mutate are shared. */
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
 * Turns the state of a journal into that of its copy, which has this header and the same lines `shift` bytes later; the
 * result equals a fold of the copy.
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

/** Deep-copies plain data; an object that occurs twice is the same object in the copy, too. */
function copied<T>(value: T, seen: Map<object, object>): T {
  // A copy has the type of its original.
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
