/** Sessions that are read page by page, newest first. */
import { shallowRef } from 'vue';
import type { EventFrame, Rest, Session, SessionQuery } from '@service-code/client';
import {
  emptyList,
  lastOfPages,
  listAnew,
  withPage,
  withoutSessions,
  type SessionList,
} from '../state/session-list.ts';

/** Sessions of the first page, and of each further one. */
const FIRST_PAGE = 50;
const NEXT_PAGE = 100;
/** Sessions that are read individually at the same time. */
const CONCURRENT = 8;

export interface FirstRead {
  /** Returns the events that arrived during the read. */
  meanwhile?: () => EventFrame[];
  /** Ids of sessions that are listed regardless of their page; archived and unknown ones are skipped. */
  others?: () => Promise<readonly string[]>;
}

/** Reads sessions individually; archived and unknown ones are skipped. */
export async function readOpen(rest: Pick<Rest, 'session'>, ids: readonly string[]): Promise<Session[]> {
  const found: Session[] = [];
  for (let at = 0; at < ids.length; at += CONCURRENT) {
    const read = ids.slice(at, at + CONCURRENT).map((id) => rest.session(id).catch(() => undefined));
    for (const session of await Promise.all(read)) if (session && !session.archived) found.push(session);
  }
  return found;
}

/** `query` selects the sessions. */
export function createSessionPages(rest: Pick<Rest, 'sessions' | 'session'>, query: SessionQuery) {
  const list = shallowRef<SessionList>(emptyList);
  const hasMore = shallowRef(false);
  /** Incremented by each read of the first page: pages that follow an earlier one are not used. */
  let reads = 0;
  let next: Promise<void> | undefined;

  async function readNext(last: string): Promise<void> {
    const current = reads;
    const page = await rest.sessions({ ...query, page_size: NEXT_PAGE, before_id: last });
    if (reads !== current) return;
    list.value = withPage(list.value, page.items);
    hasMore.value = page.has_more;
  }

  return {
    list,
    hasMore,
    /** Reads the first page again. */
    async read({ meanwhile = () => [], others = async () => [] }: FirstRead = {}): Promise<void> {
      const current = ++reads;
      next = undefined;
      const [page, ids] = await Promise.all([rest.sessions({ ...query, page_size: FIRST_PAGE }), others()]);
      const listed = new Set(page.items.map(({ id }) => id));
      const single = await readOpen(
        rest,
        ids.filter((id) => !listed.has(id)),
      );
      if (reads !== current) return;
      list.value = listAnew(list.value, page.items, meanwhile(), single);
      hasMore.value = page.has_more;
    },
    /** Adds the page after the last listed session; concurrent calls share it. */
    async readMore(): Promise<void> {
      const last = lastOfPages(list.value);
      if (!last || !hasMore.value) return;
      const reading = next ?? readNext(last.id);
      next = reading;
      try {
        await reading;
      } finally {
        if (next === reading) next = undefined;
      }
    },
    /** Removes sessions without waiting for their events. */
    drop(ids: ReadonlySet<string>): void {
      list.value = withoutSessions(list.value, ids);
    },
  };
}
