/**
 * Page fetches and searches for agents. A configured service has precedence; if it fails, the page is fetched from this
 * machine, which reaches only public addresses.
 */
import { abortable } from '#server/async/abortable.ts';
import type { WebServices } from '#server/account/managed-services.ts';
import type { Network } from '#server/net/network.ts';
import type { Logger } from '#server/logging/log.ts';
import { createSemaphore } from '#server/async/semaphore.ts';
import { decodeBeginning, encodingOf, refuseBinary } from './body.ts';
import { extractText } from './extraction.ts';
import { WebFailure } from './failure.ts';
import { fetchFromHere } from './local-fetch.ts';
import { searchResults, type SearchResult } from './search-results.ts';
import { askService, isWebService, type ServiceDeps, type WebService } from './service-request.ts';
import { within } from './within.ts';

/** Time limit of a fetch from this machine: name lookup, connections, redirects and the whole body. */
export const FETCH_MS = 30_000;
const MAX_PAGE_BYTES = 10 * 1024 * 1024;
const MAX_RESULTS_BYTES = 1024 * 1024;
/** Each fetch may need memory for a whole page, and a thread that parses it. */
const FETCHES_AT_A_TIME = 3;

export interface Page {
  /** The address of the page, after redirects if it was fetched from this machine. */
  url: string;
  /** Whether the text is the received one, or was extracted from it. */
  verbatim: boolean;
  title: string;
  /** The beginning of a longer text, a little more than is rendered. */
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
  /** Returns the text of a page. Throws `WebFailure`, and the signal's reason. */
  fetchPage(url: URL, call: WebCall): Promise<Page>;
}

export interface WebDeps extends ServiceDeps {
  /** The services of the present configuration and login. */
  services: () => WebServices;
  /** The addresses that fetches from this machine may reach. */
  network: Network;
  log: Logger;
}

/** Creates the service; imports and opens nothing before its first use. */
export function createWeb(deps: WebDeps): Web {
  const { services, network, userAgent, clock, log } = deps;
  const slots = createSemaphore(FETCHES_AT_A_TIME);

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
      return abortable(fetched, signal);
    },
  };
}
