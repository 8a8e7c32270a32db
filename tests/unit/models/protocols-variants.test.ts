/** Special cases of single wires: members of compatible servers, signatures at unusual positions. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noLogins } from '#support/no-logins.ts';
import { createModelClient, type ModelClient } from '#server/models/stream.ts';
import type { ContextMessage } from '#schema/engine.ts';
import type { ModelResponse, WireType } from '#server/models/types.ts';
import { modelRequest, resolvedModel, user } from '#support/model-requests.ts';
import { startModelServer, type ModelServer } from '#support/model-server.ts';

let server: ModelServer;
let client: ModelClient;
beforeEach(async () => {
  server = await startModelServer();
  client = createModelClient({ logins: noLogins });
});
afterEach(async () => {
  await client.close();
  await server.close();
});

async function receive(type: WireType, events: Record<string, unknown>[]): Promise<ModelResponse> {
  server.enqueue({ events });
  return client.streamModel(modelRequest(resolvedModel(server, type)), () => {});
}

/** Sends the response back as history and returns its form in the next request. */
async function giveBack(type: WireType, response: ModelResponse): Promise<Record<string, unknown>> {
  const answer: ContextMessage = { role: 'assistant', content: response.parts, toolCalls: response.calls };
  const results = response.calls.map((call): ContextMessage => ({
    role: 'tool',
    content: [{ type: 'text', text: 'ok' }],
    toolCalls: [],
    toolCallId: call.id,
  }));
  server.enqueue({ text: 'ok' });
  const messages = [user('Hello'), answer, ...results, user('Go on')];
  await client.streamModel(modelRequest(resolvedModel(server, type), { messages }), () => {});
  return (await server.waitForRequest(server.requests.length)).body;
}

const choice = (delta: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  id: 'c',
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
});

describe('chat completions', () => {
  it('reads usage in the choice, with cached tokens at its top level', async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 2, cached_tokens: 4 };
    const { usage: read } = await receive('native', [
      choice({ content: 'x' }),
      choice({}, { finish_reason: 'stop', usage }),
    ]);
    expect(read).toEqual({ inputOther: 6, output: 2, inputCacheRead: 4, inputCacheCreation: 0 });
  });

  it('echoes extras of a call on the native wire only', async () => {
    const call = { index: 0, id: 'a', function: { name: 'Read', arguments: '{}' }, extras: { seal: 'x' } };
    const events = [choice({ tool_calls: [call] }), choice({}, { finish_reason: 'tool_calls' })];
    const native = await receive('native', events);
    expect(native.calls[0]?.extras).toEqual({ seal: 'x' });
    expect(JSON.stringify(await giveBack('native', native))).toContain('"extras":{"seal":"x"}');
    const openai = await receive('openai', events);
    expect(JSON.stringify(await giveBack('openai', openai))).not.toContain('seal');
  });

  it('accepts calls without an index', async () => {
    const call = (id: string, name: string) => ({ id, function: { name, arguments: '{' } });
    const response = await receive('openai', [
      choice({ tool_calls: [call('a', 'Read')] }),
      choice({ tool_calls: [{ function: { arguments: '}' } }] }),
      choice({ tool_calls: [call('b', 'Bash')] }),
      choice({ tool_calls: [{ function: { arguments: '}' } }] }),
      choice({}, { finish_reason: 'tool_calls' }),
    ]);
    expect(response.calls).toMatchObject([
      { id: 'a', arguments: '{}' },
      { id: 'b', arguments: '{}' },
    ]);
  });

  it.each(['reasoning_content', 'reasoning'])('sends reasoning back under its original key: %s', async (key) => {
    const events = [choice({ [key]: 'Hm.' }), choice({ content: 'x' }), choice({}, { finish_reason: 'stop' })];
    const body = await giveBack('openai', await receive('openai', events));
    expect(body.messages).toMatchObject([{}, {}, { role: 'assistant', content: 'x', [key]: 'Hm.' }, {}]);
  });

  it('sends reasoning details back unmodified', async () => {
    const details = [
      { type: 'reasoning.text', text: 'Hm.', index: 0 },
      { type: 'reasoning.encrypted', data: 'blob', index: 1 },
    ];
    const response = await receive('openai', [
      ...details.map((detail) => choice({ reasoning_details: [detail] })),
      choice({ content: 'x' }),
      choice({}, { finish_reason: 'stop' }),
    ]);
    expect(response.parts).toMatchObject([{ type: 'think', think: 'Hm.' }, { type: 'text' }]);
    const body = await giveBack('openai', response);
    expect(body.messages).toMatchObject([{}, {}, { reasoning_details: details }, {}]);
  });

  it('treats a chunk of an unknown shape as a failure that is retried', async () => {
    await expect(receive('openai', [{ choices: 'none' }])).rejects.toMatchObject({
      details: { code: 'provider.api_error', retry: true },
    });
  });
});

describe('anthropic', () => {
  it('keeps redacted thinking, and lets message_delta override the usage it repeats', async () => {
    const response = await receive('anthropic', [
      {
        type: 'message_start',
        message: { id: 'm', usage: { input_tokens: 5, output_tokens: 1, cache_creation_input_tokens: 7 } },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'redacted_thinking', data: 'blob' } },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: 'x' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { input_tokens: 6, output_tokens: 9 } },
      { type: 'message_stop' },
    ]);
    expect(response.usage).toEqual({ inputOther: 6, output: 9, inputCacheRead: 0, inputCacheCreation: 7 });
    const body = await giveBack('anthropic', response);
    expect(body.messages).toMatchObject([
      {},
      {
        content: [
          { type: 'redacted_thinking', data: 'blob' },
          { type: 'text', text: 'x' },
        ],
      },
      {},
    ]);
  });
});

describe('openai_responses', () => {
  const done = { type: 'response.completed', response: { id: 'r', incomplete_details: null } };

  it('separates summaries, and sends their reasoning back encrypted', async () => {
    const item = { id: 'rs', type: 'reasoning', summary: [] };
    const response = await receive('openai_responses', [
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.reasoning_summary_part.added', output_index: 0, summary_index: 0 },
      { type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'One' },
      { type: 'response.reasoning_summary_part.added', output_index: 0, summary_index: 1 },
      { type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'Two' },
      { type: 'response.output_item.done', output_index: 0, item: { ...item, encrypted_content: 'blob' } },
      { type: 'response.output_text.delta', output_index: 1, delta: 'x' },
      done,
    ]);
    expect(response.parts[0]).toMatchObject({ think: 'One\n\nTwo', encrypted: 'blob' });
    const body = await giveBack('openai_responses', response);
    expect(body.input).toMatchObject([{}, { type: 'reasoning', encrypted_content: 'blob' }, {}, {}]);
  });

  it('accepts a call without deltas', async () => {
    const item = { type: 'function_call', call_id: 'a', name: 'Read', arguments: '{"path":"x"}' };
    const response = await receive('openai_responses', [
      { type: 'response.output_item.done', output_index: 0, item },
      done,
    ]);
    expect(response.calls).toEqual([{ id: 'a', name: 'Read', arguments: '{"path":"x"}' }]);
  });

  it('fails with the error of a failed response', async () => {
    const error = { code: 'server_error', message: 'oops' };
    await expect(
      receive('openai_responses', [{ type: 'response.failed', response: { id: 'r', error } }]),
    ).rejects.toMatchObject({ message: 'oops', details: { code: 'provider.api_error', retry: true } });
  });
});

describe('google-genai', () => {
  const chunk = (parts: Record<string, unknown>[], more: Record<string, unknown> = {}) => ({
    candidates: [{ content: { role: 'model', parts }, ...more }],
  });

  it('returns signatures to the thought, the text and the call they came with', async () => {
    const response = await receive('google-genai', [
      chunk([{ text: 'Hm.', thought: true, thoughtSignature: 's1' }]),
      chunk([{ text: 'x', thoughtSignature: 's2' }]),
      chunk([{ functionCall: { name: 'Read', args: { path: 'a' } }, thoughtSignature: 's3' }], {
        finishReason: 'STOP',
      }),
    ]);
    expect(response.calls[0]?.extras).toEqual({ thought_signature: 's3' });
    const body = await giveBack('google-genai', response);
    expect(body.contents).toMatchObject([
      {},
      {
        role: 'model',
        parts: [
          { text: 'Hm.', thought: true, thoughtSignature: 's1' },
          { text: 'x' },
          { text: '', thoughtSignature: 's2' },
          { functionCall: { name: 'Read' }, thoughtSignature: 's3' },
        ],
      },
      { role: 'user', parts: [{ functionResponse: { name: 'Read' } }] },
      { role: 'user', parts: [{ text: 'Go on' }] },
    ]);
  });

  it('counts thoughts as output and uses the last usage', async () => {
    const usage = (thoughtsTokenCount: number) => ({
      promptTokenCount: 10,
      cachedContentTokenCount: 4,
      candidatesTokenCount: 3,
      thoughtsTokenCount,
    });
    const response = await receive('google-genai', [
      { ...chunk([{ text: 'x' }]), usageMetadata: usage(1) },
      { ...chunk([], { finishReason: 'STOP' }), usageMetadata: usage(2) },
    ]);
    expect(response.usage).toEqual({ inputOther: 6, output: 5, inputCacheRead: 4, inputCacheCreation: 0 });
  });

  it('treats a blocked prompt as a filtered answer', async () => {
    const response = await receive('google-genai', [{ promptFeedback: { blockReason: 'OTHER' } }]);
    expect(response).toMatchObject({ finishReason: 'filtered', rawFinishReason: 'OTHER', parts: [] });
  });
});
