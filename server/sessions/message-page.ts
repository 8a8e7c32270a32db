/** The main agent's messages, a page or one at a time. */
import { ServiceError } from '#server/errors/service-error.ts';
import type { LogState } from '#server/journal/fold.ts';
import { placeOfMessage } from '#server/journal/projections/messages.ts';
import type { Whole } from '#server/journal/texts.ts';
import type { Message } from '#schema/message.ts';

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

/** Where messages are read from. */
export interface MessageSource {
  /** Of the session. */
  readonly id: string;
  readonly state: LogState;
  /** A part of `state` with all long texts read in. */
  load<T>(value: T): Promise<Whole<T>>;
  /** Messages by their places in the history; what `state` says of them is taken at once. */
  readMessages(places: readonly number[]): Promise<Message[]>;
}

/** Newest first; a cursor that no message has counts as none. */
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

/** The newest of what the model sees, newest first; what a compaction stands for is not among it. */
export async function contextMessages(
  { state, readMessages }: MessageSource,
  page_size = DEFAULT_PAGE,
): Promise<MessagePage> {
  const { places } = state.messages;
  return { items: await readMessages(places.slice(-page_size).toReversed()), has_more: places.length > page_size };
}

/** Throws `message.not_found`. */
export async function findMessage({ id, state, readMessages }: MessageSource, messageId: string): Promise<Message> {
  const [message] = await readMessages([placeOfMessage(state.messages, messageId)]);
  if (!message) throw new ServiceError('message.not_found', `message ${messageId} does not exist in session ${id}`);
  return message;
}

/** From the first up to the second, without it. */
export const placesBetween = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);
