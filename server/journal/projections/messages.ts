/** The main agent's message list as REST shows it (records.md §3.2, core.md §7). */
import type { ContentPart, MediaSource } from '#schema/content.ts';
import type { ContextMessage, Part, ToolOutput } from '#schema/engine.ts';
import type { Message } from '#schema/message.ts';
import { iso } from '#schema/scalars.ts';
import { derive, isDeferred } from '../deferred.ts';
import type { EventRecord, JournalRecord } from '../records.ts';
import type { Projection } from './projection.ts';

export interface MessagesState {
  sessionId: string;
  /** Everything ever said but what was undone; compaction appends to it. Oldest first. */
  history: Message[];
  /** Number of the record that filled each place, in file order from 0; search rows are keyed by it. */
  records: number[];
  /** For each context entry of main its place in `history`. */
  places: number[];
  /** The running step's place and its calls without result. */
  open: { place: number; calls: Set<string> } | undefined;
  /** Milliseconds of the last message; times strictly increase. */
  lastTime: number;
  recordCount: number;
}

/** Media kept in the session's `media` folder are stored under this scheme and never shown with it. */
const SESSION_MEDIA_SCHEME = 'service-file://';
const MAIN = 'main';

function place(state: MessagesState, message: Pick<Message, 'role' | 'content' | 'metadata'>, t: number, id?: string) {
  const index = state.history.length;
  const time = index === 0 ? t : Math.max(t, state.lastTime + 1);
  state.lastTime = time;
  const { role, content, metadata } = message;
  state.history.push({
    id: id ?? `msg_${state.sessionId}_${String(index).padStart(6, '0')}`,
    session_id: state.sessionId,
    role,
    content,
    created_at: iso(time),
    ...(metadata ? { metadata } : {}),
  });
  state.records.push(state.recordCount);
  return index;
}

function source(media: { url: string; id?: string | undefined }): MediaSource {
  if (!isDeferred(media, 'url') && media.url.startsWith(SESSION_MEDIA_SCHEME)) {
    return { kind: 'session_media', file_id: media.url.slice(SESSION_MEDIA_SCHEME.length) };
  }
  const shown = { kind: 'url' as const, url: '' };
  derive(shown, 'url', media, 'url');
  return media.id === undefined ? shown : Object.assign(shown, { id: media.id });
}

function contentPart(part: Part): ContentPart {
  switch (part.type) {
    case 'text': {
      const text = { type: 'text' as const, text: '' };
      derive(text, 'text', part, 'text');
      return text;
    }
    case 'think': {
      const thinking = { type: 'thinking' as const, thinking: '' };
      derive(thinking, 'thinking', part, 'think');
      if (part.encrypted !== undefined) derive(thinking, 'signature', part, 'encrypted');
      return thinking;
    }
    case 'image_url':
      return { type: 'image', source: source(part.imageUrl) };
    case 'video_url':
      return { type: 'video', source: source(part.videoUrl) };
    case 'audio_url': {
      const text = { type: 'text' as const, text: '' };
      derive(text, 'text', part.audioUrl, 'url', (url) => `[audio:${url}]`);
      return text;
    }
  }
}

/** Parsed arguments; the raw text when it is no JSON. */
function parsedArguments(text: string | null): unknown {
  if (text === null || text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function shownOutput(output: ToolOutput): unknown {
  if (typeof output === 'string') return output;
  if (output.some((part) => part.type !== 'text')) return output;
  return output.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function spliced(state: MessagesState, record: EventRecord<'context.spliced'>, t: number): void {
  const { start, deleteCount, messages, x } = record;
  const before = state.places.slice();
  const added = messages.map((message, index) => {
    const from = x?.cause === 'compaction' ? (x.from?.[index] ?? null) : null;
    const known = from === null ? undefined : before[from];
    return known ?? place(state, shown(message), t, message.id);
  });
  const removed = state.places.splice(start, deleteCount, ...added);
  if (x?.cause === 'undo' || x?.cause === 'remove') drop(state, new Set(removed));
}

function shown(message: ContextMessage): Pick<Message, 'role' | 'content' | 'metadata'> {
  const metadata = message.origin ? { metadata: { origin: message.origin } } : {};
  if (message.role === 'tool') {
    const output = shownOutput(message.content);
    return { role: 'tool', content: [result(message.toolCallId ?? '', output, message.isError)], ...metadata };
  }
  return { role: message.role, content: message.content.map(contentPart), ...metadata };
}

function result(id: string, output: unknown, isError: boolean | undefined) {
  return { type: 'tool_result' as const, tool_call_id: id, output, ...(isError ? { is_error: true } : {}) };
}

/** Takes places out of the history, in practice always its tail. */
function drop(state: MessagesState, gone: Set<number>): void {
  const moved = new Map<number, number>();
  state.history.forEach((_, index) => {
    if (!gone.has(index)) moved.set(index, moved.size);
  });
  state.history = state.history.filter((_, index) => !gone.has(index));
  state.records = state.records.filter((_, index) => !gone.has(index));
  state.places = state.places.flatMap((at) => moved.get(at) ?? []);
  const last = state.history.at(-1);
  state.lastTime = last ? Date.parse(last.created_at) : 0;
}

function respond(state: MessagesState, record: Extract<JournalRecord, { type: 'step.response' }>): void {
  const at = state.open?.place;
  const message = at === undefined ? undefined : state.history[at];
  if (!state.open || at === undefined || !message) return;
  const calls = record.partial ? [] : record.calls;
  for (const call of calls) state.open.calls.add(call.id);
  const uses = calls.map((call) => {
    const use = { type: 'tool_use' as const, tool_call_id: call.id, tool_name: call.name, input: undefined };
    derive(use, 'input', call, 'arguments', parsedArguments);
    return use;
  });
  state.history[at] = { ...message, content: [...record.parts.map(contentPart), ...uses] };
  state.records[at] = state.recordCount;
}

function answer(state: MessagesState, record: EventRecord<'tool.result'>, t: number): void {
  if (!state.open?.calls.delete(record.toolCallId)) return;
  const part = result(record.toolCallId, undefined, record.isError);
  derive(part, 'output', record, 'output', shownOutput);
  state.places.push(place(state, { role: 'tool', content: [part] }, t));
}

function applyMain(state: MessagesState, record: JournalRecord, t: number): void {
  switch (record.type) {
    case 'context.spliced':
      spliced(state, record, t);
      break;
    case 'turn.step.started': {
      const at = place(state, { role: 'assistant', content: [] }, t);
      state.places.push(at);
      state.open = { place: at, calls: new Set() };
      break;
    }
    case 'step.response':
      respond(state, record);
      break;
    case 'tool.result':
      answer(state, record, t);
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

export const messagesProjection: Projection<MessagesState> = {
  initial: (header) => ({
    sessionId: header.session_id,
    history: [],
    records: [],
    places: [],
    open: undefined,
    lastTime: 0,
    recordCount: 0,
  }),
  apply(state, record, t) {
    if (record.agent === MAIN) applyMain(state, record, t);
    state.recordCount += 1;
  },
};
