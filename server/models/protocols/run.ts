import { brokenStream, toModelError } from '../errors.ts';
import type { Exchange } from '#server/net/fetch.ts';
import type { ModelTransport } from '../model-transport.ts';
import type { ModelRequest, ModelResponse } from '../types.ts';

export const OPENAI_BASE_URL = 'https://api.openai.com/v1';

/** Placeholder for SDKs that require a key; never sent: `fetch.ts` sets the real header or none. */
export const NO_KEY = 'none';

/**
 * Skeleton of all protocols: `read` consumes the SDK's stream and returns the response, or undefined if the end mark
 * never arrived. SDK streams close without an error in that case and on abort, so both are checked here.
 */
export async function runStream(
  transport: ModelTransport,
  request: ModelRequest,
  keyHeader: 'authorization' | 'x-goog-api-key',
  read: (exchange: Exchange) => Promise<ModelResponse | undefined>,
): Promise<ModelResponse> {
  const { model, signal } = request;
  const exchange = transport.exchange(model, keyHeader);
  try {
    signal.throwIfAborted();
    const response = await read(exchange);
    signal.throwIfAborted();
    if (!response) throw brokenStream(exchange.result);
    return response;
  } catch (error) {
    signal.throwIfAborted();
    throw toModelError(error, exchange.result, model.providerType === 'native');
  }
}
