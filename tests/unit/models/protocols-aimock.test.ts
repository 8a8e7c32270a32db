/** The protocols against an independent implementation of the wires, without the mistakes of our test server. */
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noLogins } from '#support/no-logins.ts';
import { createModelClient, type ModelClient } from '#server/models/stream.ts';
import { modelRequest, readTool, resolvedModel, user } from '#support/model-requests.ts';

let mock: LLMock;
let client: ModelClient;
beforeAll(async () => {
  mock = new LLMock({ port: 0 });
  mock.onMessage('hello', { content: 'Hi there!', reasoning: 'Thinking hard.' });
  mock.onMessage('call', { toolCalls: [{ name: 'Read', arguments: '{"path":"a.txt"}' }] });
  await mock.start();
  client = createModelClient({ logins: noLogins });
});
afterAll(async () => {
  await client.close();
  await mock.stop();
});

// It does not support Vertex with only a key.
describe.each(['native', 'openai', 'openai_responses', 'anthropic', 'google-genai'] as const)('%s', (type) => {
  const server = {
    key: 'key',
    baseUrl: () => (type === 'anthropic' || type === 'google-genai' ? mock.url : `${mock.url}/v1`),
  };

  it('understands reasoning and text', async () => {
    const request = modelRequest(resolvedModel(server, type), {
      messages: [user('hello')],
      settings: { effort: 'high' },
    });
    const response = await client.streamModel(request, () => {});
    expect(response.parts).toMatchObject([
      { type: 'think', think: 'Thinking hard.' },
      { type: 'text', text: 'Hi there!' },
    ]);
    expect(response.finishReason).toBe('completed');
  });

  it('understands a call', async () => {
    const request = modelRequest(resolvedModel(server, type), { messages: [user('call')], tools: [readTool] });
    const { calls } = await client.streamModel(request, () => {});
    expect(calls).toMatchObject([{ name: 'Read', arguments: '{"path":"a.txt"}' }]);
  });
});
