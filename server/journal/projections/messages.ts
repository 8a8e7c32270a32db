/**
 * The main agent's message list as REST returns it: for each message the position of its body in the journal. Bodies
 * are read from the file when a page is requested (message-pages.ts).
 */
import type { Message } from '#schema/rest/message.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { JournalHeader } from '../header.ts';
import type { EventRecord, JournalRecord } from '../records.ts';

/** Position of a message's body. Immutable: replaced when it changes. */
export interface MessagePosition {
  /** Absent: derived from the session's id and the message's index. */
  id?: string;
  role: Message['role'];
  /** Milliseconds; strictly increases along the list. */
  t: number;
  /** Byte offset of the line, and index of the record in it. */
  line: number | undefined;
  record: number;
  /** Index of the message in a record that has several. */
  message?: number;
  /** The record itself while it is in no line. */
  unwritten?: JournalRecord;
}

export interface MessagesState {
  sessionId: string;
  /** All messages except undone ones; compaction appends to it. Oldest first. */
  history: MessagePosition[];
  /** For each context entry of the main agent its index in `history`. */
  places: number[];
  /** Index of the running step's message, and its calls without result. */
  open: { place: number; calls: Set<string> } | undefined;
}

/** Position of a record; `line` is absent for one that is folded but not written. */
export interface RecordPosition {
  line: number | undefined;
  record: number;
}

/** A message's id: the recorded one, else one derived from its index. */
export function messageId({ sessionId, history }: MessagesState, index: number): string {
  return history[index]?.id ?? `msg_${sessionId}_${String(index).padStart(6, '0')}`;
}

/** The index of a message; -1 for an unknown id. */
export function placeOfMessage(state: MessagesState, id: string): number {
  return state.history.findIndex((_, index) => messageId(state, index) === id);
}

type Added = Pick<MessagePosition, 'role'> & { id?: string | undefined; message?: number };

function push(state: MessagesState, added: Added, t: number, record: JournalRecord, at: RecordPosition): number {
  const last = state.history.at(-1);
  const { role, id, message } = added;
  const place: MessagePosition = { role, t: last ? Math.max(t, last.t + 1) : t, line: at.line, record: at.record };
  if (id !== undefined) place.id = id;
  if (message !== undefined) place.message = message;
  if (at.line === undefined) place.unwritten = record;
  state.history.push(place);
  return state.history.length - 1;
}

function spliced(state: MessagesState, record: EventRecord<'context.spliced'>, t: number, at: RecordPosition): void {
  const { start, deleteCount, messages, x } = record;
  const added = messages.map(({ role, id }, index) => {
    const from = x?.cause === 'compaction' ? (x.from?.[index] ?? null) : null;
    const known = from === null ? undefined : state.places[from];
    return known ?? push(state, { role, id, message: index }, t, record, at);
  });
  const removed = state.places.splice(start, deleteCount, ...added);
  if (x?.cause === 'undo' || x?.cause === 'remove') drop(state, new Set(removed));
}

/** Removes messages from the history, in practice always its tail. */
function drop(state: MessagesState, gone: Set<number>): void {
  const moved = new Map<number, number>();
  state.history.forEach((_, index) => {
    if (!gone.has(index)) moved.set(index, moved.size);
  });
  state.history = state.history.filter((_, index) => !gone.has(index));
  state.places = state.places.flatMap((at) => moved.get(at) ?? []);
}

function respond(state: MessagesState, record: JournalRecord & { type: 'step.response' }, at: RecordPosition): void {
  const { open } = state;
  const message = open && state.history[open.place];
  if (!open || !message) return;
  if (!record.partial) for (const call of record.calls) open.calls.add(call.id);
  const place: MessagePosition = { role: message.role, t: message.t, line: at.line, record: at.record };
  if (at.line === undefined) place.unwritten = record;
  state.history[open.place] = place;
}

function applyMain(state: MessagesState, record: JournalRecord, t: number, at: RecordPosition): void {
  switch (record.type) {
    case 'context.spliced':
      spliced(state, record, t, at);
      break;
    case 'turn.step.started': {
      const place = push(state, { role: 'assistant' }, t, record, at);
      state.places.push(place);
      state.open = { place, calls: new Set() };
      break;
    }
    case 'step.response':
      respond(state, record, at);
      break;
    case 'tool.result':
      if (state.open?.calls.delete(record.toolCallId)) {
        state.places.push(push(state, { role: 'tool' }, t, record, at));
      }
      break;
    case 'turn.step.completed':
    case 'turn.step.retrying':
    case 'turn.step.interrupted':
    case 'turn.ended':
      state.open = undefined;
      break;
    case 'context.cleared':
      state.places = [];
      break;
  }
}

/** Like other projections, but `apply` also receives the record's position. */
export const messagesProjection = {
  initial: (header: JournalHeader): MessagesState => ({
    sessionId: header.session_id,
    history: [],
    places: [],
    open: undefined,
  }),
  apply(state: MessagesState, record: JournalRecord, t: number, at: RecordPosition): void {
    if (record.agent === MAIN_AGENT) applyMain(state, record, t, at);
  },
  /** Sets the line of records that were folded before they were written. */
  written(state: MessagesState, line: number): void {
    state.history = state.history.map((place) => {
      if (place.line !== undefined) return place;
      const { unwritten: _unwritten, ...rest } = place;
      return { ...rest, line };
    });
  },
};
