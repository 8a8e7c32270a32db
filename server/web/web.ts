/**
 * Pages and searches for agents. A service of the configuration comes first; a page that it does not give is fetched from
 * this machine, which goes to public addresses only.
 */
import { unlessAborted } from '#server/async/abortable.ts';
import type { Clock } from '#server/clock.ts';
import type { Fetch } from '#server/net/http-client.ts';
import type { Network } from '#server/net/network.ts';
import type { Logger } from '#server/logging/log.ts';
import type { ServiceEntry } from '#schema/config.ts';
import { createSlots } from '#server/async/semaphore.ts';
import { decodeBeginning, encodingOf, refuseBinary } from './body.ts';
import { extractText } from './extraction.ts';
import { WebFailure } from './failure.ts';
import { fetchFromHere } from './local-fetch.ts';
import { searchResults, type SearchResult } from './search-results.ts';
import { askService, isWebService, type WebService } from './service-request.ts';
import { within } from './within.ts';

/** Of a fetch from here: name, connections, redirects and the whole body. */
export const FETCH_MS = 30_000;
const MAX_PAGE_BYTES = 10 * 1024 * 1024;
const MAX_RESULTS_BYTES = 1024 * 1024;
/** Each may hold a whole page, and a thread that reads it. */
const FETCHES_AT_A_TIME = 3;

export interface Page {
  /** Where it came from; of a fetch from here behind its redirects. */
  url: string;
  /** As it was sent, or the text that was found in it. */
  verbatim: boolean;
  title: string;
  /** A little more than is shown where it is longer. */
  text: string;
}

export interface WebCall {
  toolCallId: string;
  signal: AbortSignal;
}

export interface Web {
  /** Whether a service for searches is configured now. */
  canSearch(): boolean;
  /** Throws `WebFailure`, and the signal's reason. */
  search(query: string, call: WebCall): Promise<SearchResult[]>;
  /** The text of a page. Throws `WebFailure`, and the signal's reason. */
  fetchPage(url: URL, call: WebCall): Promise<Page>;
}

export interface WebDeps {
  /** Those of the configuration, at this moment. */
  services: () => { search?: ServiceEntry; fetch?: ServiceEntry };
  /** For services. */
  fetch: Fetch;
  /** What fetches from here may reach. */
  network: Network;
  userAgent: () => string;
  clock: Clock;
  log: Logger;
}

/** Loads and opens nothing before it is used. */
export function createWeb(deps: WebDeps): Web {
  const { services, network, userAgent, clock, log } = deps;
  const slots = createSlots(FETCHES_AT_A_TIME);

  async function byService(service: WebService, url: URL, { toolCallId, signal }: WebCall): Promise<Page> {
    const request = { body: { url: url.href }, accept: 'text/markdown', maxBytes: MAX_PAGE_BYTES, toolCallId, signal };
    const text = await askService(service, request, deps);
    if (text.trim() === '') throw new WebFailure('sent no text');
    return { url: url.href, verbatim: false, title: '', text };
  }

  async function fromHere(start: URL, signal: AbortSignal): Promise<Page> {
    const fetched = await within(FETCH_MS, { signal, clock }, (limited) =>
      fetchFromHere(start, { network, userAgent: userAgent(), signal: limited }),
    );
    const { url, kind, bytes, contentType } = fetched;
    const encoding = encodingOf(bytes, contentType);
    refuseBinary(bytes, encoding);
    if (kind === 'verbatim') {
      return { url: url.href, verbatim: true, title: '', text: decodeBeginning(bytes, encoding) };
    }
    return { url: url.href, verbatim: false, ...(await extractText(bytes, encoding, { signal, clock })) };
  }

  return {
    canSearch: () => isWebService(services().search),
    async search(query, { toolCallId, signal }) {
      const { search } = services();
      if (!isWebService(search)) throw new WebFailure('is not configured any more');
      const body = { text_query: query };
      const request = { body, accept: 'application/json', maxBytes: MAX_RESULTS_BYTES, toolCallId, signal };
      return searchResults(await askService(search, request, deps));
    },
    async fetchPage(url, call) {
      const { signal } = call;
      const { fetch: service } = services();
      if (isWebService(service)) {
        try {
          return await byService(service, url, call);
        } catch (error) {
          if (signal.aborted) throw error;
          log.warn('the fetch service failed, so a page is fetched from here', { err: error });
        }
      }
      const fetched = slots.run(() => {
        signal.throwIfAborted();
        return fromHere(url, signal);
      });
      return unlessAborted(fetched, signal);
    },
  };
}
