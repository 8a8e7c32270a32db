/** The main agent's messages, a page or one at a time. */
import { ServiceError } from '#server/errors/service-error.ts';
import type { LogState } from '#server/journal/fold.ts';
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
  /** A plain copy of a part of `state` with all long texts read in. */
  load<T>(value: T): Promise<T>;
}

/** Newest first; a cursor that no message has counts as none. */
export async function pageOfMessages({ state, load }: MessageSource, query: MessageQuery): Promise<MessagePage> {
  const { before_id, after_id, page_size = DEFAULT_PAGE, role } = query;
  const { history } = state.messages;
  const place = (cursor: string | undefined) =>
    cursor === undefined ? -1 : history.findIndex((message) => message.id === cursor);
  const before = place(before_id);
  const after = place(after_id);
  const window = before >= 0 ? history.slice(0, before) : after >= 0 ? history.slice(after + 1) : history;
  const matching = role ? window.filter((message) => message.role === role) : window;
  const items = matching.slice(-page_size).toReversed();
  // Before anything is awaited: the history may grow meanwhile.
  const has_more = matching.length > items.length;
  return { items: await load(items), has_more };
}

/** Throws 40403. */
export async function findMessage({ id, state, load }: MessageSource, messageId: string): Promise<Message> {
  const message = state.messages.history.find((one) => one.id === messageId);
  if (!message) throw new ServiceError('message.not_found', `message ${messageId} does not exist in session ${id}`);
  return load(message);
}
