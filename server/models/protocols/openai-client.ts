import type OpenAI from 'openai';
import { NO_SDK_TIMEOUT_MS, type Exchange } from '#server/net/fetch.ts';
import type { ResolvedModel } from '../types.ts';
import { NO_KEY, OPENAI_BASE_URL } from './run.ts';

/** Capacity of the client cache, in addresses. */
const MAX_CLIENTS = 16;

/** A client consists of some forty objects and has no state of a request, so it is cached by address. */
const clients = new Map<string, OpenAI>();

/** Key of the exchange's `fetch` in a request's options. */
const VIA = Symbol('via');
interface Via {
  [VIA]?: Exchange['fetch'];
}

const fetchVia: typeof globalThis.fetch = (input, init: RequestInit & Via = {}) => {
  const fetch = init[VIA];
  if (!fetch) throw new Error('a request without its exchange');
  return fetch(input, init);
};

/** Returns OpenAI's SDK for one request, without its environment defaults, retries, time-outs and logs. */
export async function openAIRequest(
  { baseUrl = OPENAI_BASE_URL }: ResolvedModel,
  { fetch }: Exchange,
  signal: AbortSignal,
): Promise<{ client: OpenAI; options: OpenAI.RequestOptions }> {
  const via: Via = { [VIA]: fetch };
  const fetchOptions: object = via;
  return { client: clients.get(baseUrl) ?? (await createClient(baseUrl)), options: { signal, fetchOptions } };
}

async function createClient(baseURL: string): Promise<OpenAI> {
  const { default: Client } = await import('openai');
  const client = new Client({
    // Never sent: the exchange sets the real one.
    apiKey: NO_KEY,
    adminAPIKey: null,
    organization: null,
    project: null,
    baseURL,
    fetch: fetchVia,
    maxRetries: 0,
    timeout: NO_SDK_TIMEOUT_MS,
    logLevel: 'off',
  });
  const [oldest] = clients.keys();
  if (clients.size >= MAX_CLIENTS && oldest !== undefined) clients.delete(oldest);
  clients.set(baseURL, client);
  return client;
}
