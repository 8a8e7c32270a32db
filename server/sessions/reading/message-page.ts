/** Reads the main agent's messages: pages, and single messages by id. */
import { ServiceError } from '#server/errors/service-error.ts';
import type { LogState } from '#server/journal/fold.ts';
import { placeOfMessage } from '#server/journal/projections/messages.ts';
import type { Whole } from '#server/journal/texts.ts';
import type { Message } from '#schema/rest/message.ts';

const DEFAULT_PAGE = 50;

export interface MessageQuery {
  before_id?: string | undefined;
  after_id?: string | undefined;
  page_size?: number | undefined;
  role?: Message['role'] | undefined;
}

export interface MessagePage {
  items: Message[];
  has_more: boolean;
}

/** The source that messages are read from: a loaded session or a fold. */
export interface MessageSource {
  /** The session's id. */
  readonly id: string;
  readonly state: LogState;
  /** Returns a part of `state` with all long texts read from their blobs. */
  load<T>(value: T): Promise<Whole<T>>;
  /** Reads messages by their indices in the history; `state` is read synchronously, before the first await. */
  readMessages(places: readonly number[]): Promise<Message[]>;
}

/** Returns a page of messages, newest first. An unknown cursor is ignored. */
export async function pageOfMessages(source: MessageSource, query: MessageQuery): Promise<MessagePage> {
  const { before_id, after_id, page_size = DEFAULT_PAGE, role } = query;
  const { messages } = source.state;
  const { history } = messages;
  const place = (cursor: string | undefined) => (cursor === undefined ? -1 : placeOfMessage(messages, cursor));
  const before = place(before_id);
  const after = place(after_id);
  const window = before >= 0 ? placesBetween(0, before) : placesBetween(after + 1, history.length);
  const matching = role ? window.filter((index) => history[index]?.role === role) : window;
  const items = matching.slice(-page_size).toReversed();
  return { items: await source.readMessages(items), has_more: matching.length > items.length };
}

/**
 * Returns the newest messages of the model's context, newest first; messages that a compaction replaced are not
 * included.
 */
export async function contextMessages(
  { state, readMessages }: MessageSource,
  page_size = DEFAULT_PAGE,
): Promise<MessagePage> {
  const { places } = state.messages;
  return { items: await readMessages(places.slice(-page_size).toReversed()), has_more: places.length > page_size };
}

/** Returns one message. Throws `message.not_found`. */
export async function findMessage({ id, state, readMessages }: MessageSource, messageId: string): Promise<Message> {
  const [message] = await readMessages([placeOfMessage(state.messages, messageId)]);
  if (!message) throw new ServiceError('message.not_found', `message ${messageId} does not exist in session ${id}`);
  return message;
}

/** The integers from `from` up to `to`, exclusive. */
export const placesBetween = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);
