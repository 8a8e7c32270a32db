/** The state of the search palette: the query, its choices, and the hits, which are read while a person types. */
import { computed, onScopeDispose, shallowReactive, shallowRef, watch, type ShallowRef } from 'vue';
import { ApiError, type Rest, type SearchHit, type SearchReply, type Session } from '@service-code/client';
import { matchingTitles, withoutTitlesOf } from '../state/search-hits.ts';
import {
  isSearchable,
  parseQuery,
  searchRequest,
  type SearchOptions,
  type SearchOrigin,
} from '../state/search-query.ts';

/** A pause of typing that ends a query. */
const DELAY_MS = 80;
/** Interval of reads while the index is building. */
const BUILDING_MS = 1_000;
/** Titles that are displayed of the sessions that the page has. */
const TITLES = 8;
/** Hits that the palette displays; a narrower query finds the others. */
const MOST_HITS = 500;
/** `validation.failed`: a page token of an index that was rebuilt, or a query that is out of bounds. */
const INVALID = 40001;

export type SearchStatus = 'idle' | 'searching' | 'done' | 'failed';

export interface SearchDeps {
  rest: Pick<Rest, 'search'>;
  /** The sessions that the page has, newest first. */
  sessions: Readonly<ShallowRef<readonly Session[]>>;
  origin: SearchOrigin;
  scope: SearchOptions['scope'];
}

export type Search = ReturnType<typeof createSearch>;

/** Searches until the current effect scope is disposed. */
export function createSearch({ rest, sessions, origin, scope }: SearchDeps) {
  const text = shallowRef('');
  const options = shallowReactive<SearchOptions>({ scope, author: 'all', sort: 'score' });
  const status = shallowRef<SearchStatus>('idle');
  const failure = shallowRef<unknown>();
  const found = shallowRef<readonly SearchHit[]>([]);
  const page = shallowRef<Omit<SearchReply, 'items'>>();

  const parsed = computed(() => parseQuery(text.value));
  const titles = computed(() => matchingTitles(sessions.value, parsed.value, options, origin, TITLES));
  const hits = computed(() => withoutTitlesOf(found.value, titles.value));
  const isBuilding = computed(() => page.value?.index_state.state === 'building');
  const hasMore = computed(() => page.value?.has_more === true && found.value.length < MOST_HITS);

  /** The running request; replaced by the next one, whose reply is the only one that is used then. */
  let running: AbortController | undefined;
  /** The last read of a further page. */
  let next: { request: AbortController | undefined; done: Promise<void> } | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function stop() {
    clearTimeout(timer);
    running?.abort();
    running = undefined;
  }

  /** Reads a page; `accept` receives it unless another request has replaced this one. */
  async function read(pageToken: string | undefined, accept: (reply: SearchReply) => void): Promise<void> {
    stop();
    const mine = new AbortController();
    running = mine;
    try {
      const request = searchRequest(parsed.value, options, origin);
      const reply = await rest.search(
        { ...request, ...(pageToken && { page_token: pageToken }) },
        { signal: mine.signal },
      );
      if (running !== mine) return;
      running = undefined;
      status.value = 'done';
      failure.value = undefined;
      accept(reply);
    } catch (error) {
      if (running !== mine) return;
      running = undefined;
      // The index was rebuilt since the first page.
      if (pageToken && error instanceof ApiError && error.code === INVALID) return readFirst();
      status.value = 'failed';
      failure.value = error;
    }
    if (isBuilding.value) timer = setTimeout(() => void readFirst(), BUILDING_MS);
  }

  const readFirst = (): Promise<void> =>
    read(undefined, ({ items, ...rest }) => {
      found.value = items;
      page.value = rest;
    });

  /** Hits of an earlier query are removed immediately. */
  function changed() {
    stop();
    found.value = [];
    page.value = undefined;
    failure.value = undefined;
    if (!isSearchable(parsed.value)) {
      status.value = 'idle';
      return;
    }
    status.value = 'searching';
    timer = setTimeout(() => void readFirst(), DELAY_MS);
  }

  watch([text, () => ({ ...options })], changed, { flush: 'sync' });
  onScopeDispose(stop);

  return {
    text,
    options,
    parsed,
    status,
    failure,
    /** Sessions with a matching title, which need no request. */
    titles,
    /** The server's hits, without the titles above. */
    hits,
    /** The state of the index, and the limit that ended the query, if any. */
    page,
    isBuilding,
    hasMore,
    /** Adds the next page; concurrent calls share it. */
    async readMore(): Promise<void> {
      const token = page.value?.page_token;
      if (next && running === next.request) return next.done;
      if (running || !hasMore.value || token === undefined) return;
      const done = read(token, ({ items, ...rest }) => {
        found.value = [...found.value, ...items].slice(0, MOST_HITS);
        page.value = rest;
      });
      next = { request: running, done };
      await done;
    },
  };
}
