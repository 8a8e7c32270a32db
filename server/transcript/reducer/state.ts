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
} from '#schema/transcript.ts';
import type { TranscriptOp } from '#schema/transcript-ops.ts';

/**
 * A value inside the server, where a text may be an object instead of a string; it is converted to a string before it
 * is sent to a client.
 */
export type Held<T> = unknown extends T
  ? T
  : T extends object
    ? {
        [K in keyof T]: K extends 'text' | 'prompt' | 'url' ? HeldText<T[K]> : K extends 'progress' ? T[K] : Held<T[K]>;
      }
    : T;

type HeldText<V> = V extends string ? (string extends V ? string | object : V) : Held<V>;

interface Entities {
  item: Item;
  task: Task;
  interaction: Interaction;
  attachment: TranscriptAttachment;
  todo: Todo;
  prompt: TranscriptPrompt;
  meta: Meta;
}
type HeldEntities = { [K in keyof Entities]: Held<Entities[K]> };

interface StateOf<E extends HeldEntities> {
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
export type HeldState = StateOf<HeldEntities>;
/** Operations inside the server; a whole state is only sent, never derived from a record. */
export type HeldOp = Exclude<Held<TranscriptOp>, { op: 'reset' }>;

export type HeldItem = Held<Item>;
export type HeldTurn = Extract<HeldItem, { kind: 'turn' }>;
export type HeldStep = HeldTurn['steps'][number];
export type HeldFrame = HeldStep['frames'][number];
/** A frame of written text. */
export type HeldTextFrame = Extract<HeldFrame, { kind: 'text' | 'thinking' }>;
export type HeldToolFrame = Extract<HeldFrame, { kind: 'tool' }>;

/** Creates an empty state. */
export const emptyTranscript = (): TranscriptState & HeldState => ({
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
export function itemId(item: HeldItem): string {
  switch (item.kind) {
    case 'turn':
      return item.turnId;
    case 'marker':
      return item.markerId;
    case 'taskref':
      return item.refId;
  }
}
