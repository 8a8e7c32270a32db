/** An agent's transcript as a client has it, and the code that the server shares: it applies operations to it. */
import { applyOps as apply } from '../../../server/transcript/reducer/apply.ts';
import {
  emptyTranscript as empty,
  itemId as idOf,
  prependItems as prepend,
} from '../../../server/transcript/reducer/state.ts';
import type {
  Interaction,
  Item,
  TranscriptAttachment,
  TranscriptMeta,
  TranscriptOp,
  TranscriptPrompt,
  TranscriptTask,
  TranscriptTodo,
} from './types.ts';

/** Mutated by `applyOps`; its frames and entities are immutable and replaced. */
export interface TranscriptState {
  /** Turns ascend by ordinal; other items are at the position where they occurred. */
  items: Item[];
  /** Entries by id, in the order of creation, like the following maps. */
  tasks: Map<string, TranscriptTask>;
  interactions: Map<string, Interaction>;
  attachments: Map<string, TranscriptAttachment>;
  todos: Map<string, TranscriptTodo>;
  prompts: Map<string, TranscriptPrompt>;
  meta: TranscriptMeta;
  /** Ids of interactions that wait for an answer. */
  pending: Set<string>;
  hasMoreOlder: boolean;
  /** The items by their ids. */
  byId: Map<string, Item>;
}

/** `gap`: a chunk of text did not fit the state, so an operation was lost and a page must be read. */
export interface Applied {
  changed: boolean;
  gap: boolean;
}

/** Applies a batch in order, mutating the state; never throws. An operation that does not fit is skipped. */
export const applyOps: (state: TranscriptState, ops: readonly TranscriptOp[]) => Applied = apply;

/** Creates an empty state. */
export const emptyTranscript: () => TranscriptState = empty;

/** An item's id, unique among all items of the agent. */
export const itemId: (item: Item) => string = idOf;

/** Inserts the items of an older page before those of a state. */
export const prependItems: (state: TranscriptState, items: readonly Item[], hasMoreOlder: boolean) => void = prepend;
