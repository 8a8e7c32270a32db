import type OpenAI from 'openai';
import { NO_SDK_TIMEOUT_MS, type Exchange } from '#server/net/fetch.ts';
import type { ResolvedModel } from '../types.ts';
import { NO_KEY } from './run.ts';

/** OpenAI's SDK for one request: it takes nothing from the environment; retries, time-outs and logs are ours. */
export async function createOpenAIClient(model: ResolvedModel, fetch: Exchange['fetch']): Promise<OpenAI> {
  const { default: Client } = await import('openai');
  return new Client({
    apiKey: model.apiKey || NO_KEY,
    adminAPIKey: null,
    organization: null,
    project: null,
    baseURL: model.baseUrl ?? 'https://api.openai.com/v1',
    fetch,
    maxRetries: 0,
    timeout: NO_SDK_TIMEOUT_MS,
    logLevel: 'off',
  });
}
