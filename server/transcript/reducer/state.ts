/**
 * The state that operations make. This folder depends on nothing that runs: server, page and scripts apply operations
 * with the same code.
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
 * The same value where it is not on its way to a client: a text may be something else than a string, which whoever shows
 * it turns into one.
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
  /** Turns ascend by ordinal; the others stand where they happened. */
  items: E['item'][];
  /** By id, in the order of creation; so are the following. */
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

/** An agent's transcript. Changed in place by `applyOps`; frames and entities in it are replaced, never changed. */
export type TranscriptState = StateOf<Entities>;
export type HeldState = StateOf<HeldEntities>;
/** What one part of the server tells another; a whole state is only sent, never made of a record. */
export type HeldOp = Exclude<Held<TranscriptOp>, { op: 'reset' }>;

export type HeldItem = Held<Item>;
export type HeldTurn = Extract<HeldItem, { kind: 'turn' }>;
export type HeldStep = HeldTurn['steps'][number];
export type HeldFrame = HeldStep['frames'][number];
/** A frame of written text. */
export type HeldTextFrame = Extract<HeldFrame, { kind: 'text' | 'thinking' }>;
export type HeldToolFrame = Extract<HeldFrame, { kind: 'tool' }>;

/** A state without anything. */
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
