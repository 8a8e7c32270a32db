import { brokenStream, toModelError } from '../errors.ts';
import type { Exchange, Transport } from '#server/net/fetch.ts';
import type { ModelRequest, ModelResponse } from '../types.ts';

export const OPENAI_BASE_URL = 'https://api.openai.com/v1';

/** Given to SDKs that insist on a key; never sent, `fetch.ts` sets the real header or none. */
export const NO_KEY = 'none';

/**
 * The skeleton all protocols share: `read` runs the SDK's stream to its end and returns the answer, or undefined when
 * the end mark never came. SDK streams end without an error then, and on abort too, so both are looked at here.
 */
export async function runStream(
  transport: Transport,
  request: ModelRequest,
  authHeader: 'authorization' | 'x-goog-api-key',
  read: (exchange: Exchange) => Promise<ModelResponse | undefined>,
): Promise<ModelResponse> {
  const { model, signal } = request;
  const key = model.apiKey;
  const value = authHeader === 'authorization' ? `Bearer ${key}` : key;
  const exchange = transport.exchange(model.headers, key && value ? { name: authHeader, value } : undefined);
  try {
    signal.throwIfAborted();
    const response = await read(exchange);
    signal.throwIfAborted();
    if (!response) throw brokenStream(exchange.facts);
    return response;
  } catch (error) {
    signal.throwIfAborted();
    throw toModelError(error, exchange.facts, model.providerType === 'native');
  }
}
