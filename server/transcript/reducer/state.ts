/**
 * The state that operations produce. This folder depends on no runtime: server, page and scripts apply operations with
 * the same code.
 */
import type {
  Interaction,
  Item,
  Meta,
  Task,
  Todo,
  TranscriptAttachment,
  TranscriptPrompt,
} from '#schema/rest/transcript.ts';
import type { TranscriptOp } from '#schema/rest/transcript-ops.ts';

/**
 * A value inside the server, where a text may be an object instead of a string; it is converted to a string before it
 * is sent to a client.
 */
export type StoredValue<T> = unknown extends T
  ? T
  : T extends object
    ? {
        [K in keyof T]: K extends 'text' | 'prompt' | 'url'
          ? StoredMember<T[K]>
          : K extends 'progress'
            ? T[K]
            : StoredValue<T[K]>;
      }
    : T;

type StoredMember<V> = V extends string ? (string extends V ? string | object : V) : StoredValue<V>;

interface Entities {
  item: Item;
  task: Task;
  interaction: Interaction;
  attachment: TranscriptAttachment;
  todo: Todo;
  prompt: TranscriptPrompt;
  meta: Meta;
}
type StoredEntities = { [K in keyof Entities]: StoredValue<Entities[K]> };

interface StateOf<E extends StoredEntities> {
  /** Turns ascend by ordinal; other items are at the position where they occurred. */
  items: E['item'][];
  /** Entries by id, in the order of creation, like the following maps. */
  tasks: Map<string, E['task']>;
  interactions: Map<string, E['interaction']>;
  attachments: Map<string, E['attachment']>;
  todos: Map<string, E['todo']>;
  prompts: Map<string, E['prompt']>;
  meta: E['meta'];
  /** Interactions that wait for an answer. */
  pending: Set<string>;
  hasMoreOlder: boolean;
  /** The items by their ids. */
  byId: Map<string, E['item']>;
}

/** An agent's transcript. Mutated by `applyOps`; its frames and entities are immutable and replaced. */
export type TranscriptState = StateOf<Entities>;
export type StoredState = StateOf<StoredEntities>;
/** Operations inside the server; a whole state is only sent, never derived from a record. */
export type StoredOp = Exclude<StoredValue<TranscriptOp>, { op: 'reset' }>;

export type StoredItem = StoredValue<Item>;
export type StoredTurn = Extract<StoredItem, { kind: 'turn' }>;
export type StoredStep = StoredTurn['steps'][number];
export type StoredFrame = StoredStep['frames'][number];
/** A frame of written text. */
export type StoredTextFrame = Extract<StoredFrame, { kind: 'text' | 'thinking' }>;
export type StoredToolFrame = Extract<StoredFrame, { kind: 'tool' }>;

/** Creates an empty state. */
export const emptyTranscript = (): TranscriptState & StoredState => ({
  items: [],
  tasks: new Map(),
  interactions: new Map(),
  attachments: new Map(),
  todos: new Map(),
  prompts: new Map(),
  meta: {},
  pending: new Set(),
  hasMoreOlder: false,
  byId: new Map(),
});

/** An item's id, unique among all items of the agent. */
export function itemId(item: StoredItem): string {
  switch (item.kind) {
    case 'turn':
      return item.turnId;
    case 'marker':
      return item.markerId;
    case 'taskref':
      return item.refId;
  }
}

/**
 * Inserts the items of an older page before those of a state. Only its items are used: its entities may be older than
 * those of the state.
 */
export function prependItems(state: TranscriptState, items: readonly Item[], hasMoreOlder: boolean): void {
  const added = items.filter((item) => !state.byId.has(itemId(item)));
  for (const item of added) state.byId.set(itemId(item), item);
  state.items.unshift(...added);
  state.hasMoreOlder = hasMoreOlder;
}
