/** One suite for every wire protocol, over real HTTP against a server that implements its wire. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noLogins } from '#support/no-logins.ts';
import { MAX_JSON_LEVELS } from '#server/text/json.ts';
import { createModelClient, type ModelClient } from '#server/models/stream.ts';
import { ModelError, type ModelRequest, type ModelResponse, type StreamPart } from '#server/models/types.ts';
import { parseArguments, shownArguments } from '#server/text/tool-arguments.ts';
import type { ContextMessage } from '#schema/engine.ts';
import { modelRequest, readTool, resolvedModel, user, WIRE_TYPES } from '#support/model-requests.ts';
import { startModelServer, type ModelServer, type Script } from '#support/model-server.ts';

let server: ModelServer;
let client: ModelClient;
beforeEach(async () => {
  server = await startModelServer();
  client = createModelClient({ logins: noLogins, timeouts: { connectMs: 500, firstByteMs: 500, idleMs: 500 } });
});
afterEach(async () => {
  await client.close();
  await server.close();
});

describe.each(WIRE_TYPES)('%s', (type) => {
  const google = type === 'google-genai' || type === 'vertexai';
  const request = (more: Partial<ModelRequest> = {}) => modelRequest(resolvedModel(server, type), more);

  async function run(script: Script, more: Partial<ModelRequest> = {}) {
    server.enqueue(script);
    const parts: StreamPart[] = [];
    const response = await client.streamModel(request(more), (part) => parts.push(part));
    return { response, parts };
  }

  async function failure(script: Script, more: Partial<ModelRequest> = {}): Promise<ModelError> {
    const error: unknown = await run(script, more).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (!(error instanceof ModelError)) throw new Error(`no ModelError: ${String(error)}`, { cause: error });
    return error;
  }

  it('streams text as it arrives, and returns all of it with usage and finish reason', async () => {
    const { response, parts } = await run({ text: ['Hel', 'lo'], usage: { input: 100, output: 7, cached: 60 } });
    expect(parts).toEqual([
      { type: 'text', text: 'Hel' },
      { type: 'text', text: 'lo' },
    ]);
    expect(response).toMatchObject({
      parts: [{ type: 'text', text: 'Hello' }],
      calls: [],
      finishReason: 'completed',
      usage: { inputOther: 40, output: 7, inputCacheRead: 60, inputCacheCreation: 0 },
    });
    expect(response.responseId).toBeTruthy();
    expect(response.rawFinishReason).toBeTruthy();
  });

  it('streams reasoning before text', async () => {
    const { response, parts } = await run(
      { thinking: ['Hm', 'm.'], text: 'Yes.', signature: 'c2ln' },
      { settings: { effort: 'high' } },
    );
    expect(parts.map((part) => part.type)).toEqual(['think', 'think', 'text']);
    expect(response.parts).toMatchObject([
      { type: 'think', think: 'Hmm.' },
      { type: 'text', text: 'Yes.' },
    ]);
    const signed = type === 'anthropic' || type === 'openai_responses' || google;
    const [thought] = response.parts;
    expect(thought?.type === 'think' && thought.encrypted).toBe(signed ? 'c2ln' : undefined);
  });

  it('streams calls: the header when the name has arrived, then the arguments', async () => {
    const calls = [
      { name: 'Read', args: { path: 'a.txt' } },
      { name: 'Bash', args: { command: 'ls' } },
    ];
    const { response, parts } = await run({ text: 'Reading.', calls }, { tools: [readTool] });
    expect(response.finishReason).toBe('tool_calls');
    expect(response.calls.map(({ id, name }) => ({ id, name }))).toEqual([
      { id: 'call_1', name: 'Read' },
      { id: 'call_2', name: 'Bash' },
    ]);
    expect(response.calls.map((call) => JSON.parse(call.arguments ?? ''))).toEqual(calls.map((call) => call.args));
    const streamed = new Map<number, string>();
    for (const part of parts) {
      if (part.type === 'call') streamed.set(part.index, '');
      if (part.type === 'arguments') {
        expect(streamed.has(part.index)).toBe(true);
        streamed.set(part.index, (streamed.get(part.index) ?? '') + part.text);
      }
    }
    expect([...streamed.values()]).toEqual(response.calls.map((call) => call.arguments));
  });

  // Gemini sends whole calls.
  it.each(google ? [] : ['Read'])('buffers arguments that arrive before the name %s', async () => {
    const { response, parts } = await run({ calls: [{ name: 'Read', args: { path: 'a.txt' } }], argumentsFirst: true });
    expect(parts[0]).toMatchObject({ type: 'call', index: 0, name: 'Read' });
    expect(parts.slice(1).every((part) => part.type === 'arguments')).toBe(true);
    expect(response.calls).toMatchObject([{ name: 'Read', arguments: '{"path":"a.txt"}' }]);
  });

  it('generates an id for a call without one', async () => {
    const { response } = await run({ calls: [{ name: 'Read', id: null, args: { path: 'a' } }] });
    expect(response.calls[0]?.id).toMatch(/^call_[0-9A-Z]{26}$/);
  });

  describe.each([MAX_JSON_LEVELS, MAX_JSON_LEVELS + 1, 100_000])('with arguments of %i levels', (levels) => {
    const text = `{"path":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    const allowed = levels <= MAX_JSON_LEVELS;

    it('reads the call', async () => {
      const { response, parts } = await run({ calls: [{ name: 'Read', args: text }] }, { tools: [readTool] });
      const [call] = response.calls;
      // Gemini sends an object, whose text is clipped below the first level that is not allowed.
      const whole = !google || levels <= MAX_JSON_LEVELS + 1;
      if (whole) expect(call?.arguments).toBe(text);
      expect(parts.map((part) => (part.type === 'arguments' ? part.text : '')).join('')).toBe(call?.arguments);
      expect(parseArguments(call?.arguments ?? null)).toEqual(allowed ? JSON.parse(text) : {});
      expect(shownArguments(call?.arguments ?? null)).toEqual(allowed ? JSON.parse(text) : call?.arguments);
    });

    it(`sends ${allowed ? 'them' : '{} in their stead'} with the history`, async () => {
      const messages: ContextMessage[] = [
        user('Hello'),
        { role: 'assistant', content: [], toolCalls: [{ id: 'call_1', name: 'Read', arguments: text }] },
        { role: 'tool', content: [{ type: 'text', text: 'ok' }], toolCalls: [], toolCallId: 'call_1' },
      ];
      await run({ text: 'x' }, { messages });
      const body = JSON.stringify((await server.waitForRequest(1)).body);
      const sent = allowed ? JSON.parse(text) : {};
      const field = google ? 'args' : type === 'anthropic' ? 'input' : 'arguments';
      const value = google || type === 'anthropic' ? sent : JSON.stringify(sent);
      expect(body).toContain(`"${field}":${JSON.stringify(value)}`);
      expect(body.includes('['.repeat(100))).toBe(allowed);
    });
  });

  it('reports no usage when none was sent', async () => {
    const { response } = await run({ text: 'x', usage: false });
    expect(response.usage).toBeUndefined();
  });

  it.each(finishWords(type))('reads the finish reason %s as %s', async (finish, expected) => {
    const { response } = await run({ text: 'x', finish });
    expect(response).toMatchObject({ finishReason: expected, rawFinishReason: finish });
  });

  it('rejects an empty answer and one of reasoning only, but not a filtered one', async () => {
    const empty = await failure({});
    expect(empty.details).toMatchObject({ code: 'provider.api_error', name: 'APIEmptyResponseError', retry: true });
    const silent = await failure({ thinking: 'Hm.' }, { settings: { effort: 'high' } });
    expect(silent.details.name).toBe('APIEmptyResponseError');
    const word = finishWords(type).find(([, reason]) => reason === 'filtered')?.[0] ?? '';
    const { response } = await run({ finish: word });
    expect(response.finishReason).toBe('filtered');
  });

  it('sends our headers and the key, and no header of the SDK', async () => {
    await run({ text: 'x' });
    const { headers } = await server.waitForRequest(1);
    expect(headers['user-agent']).toBe('service-code/0');
    expect(headers['x-custom']).toBe('yes');
    const key = google ? headers['x-goog-api-key'] : headers.authorization;
    expect(key).toBe(google ? 'fake-key' : 'Bearer fake-key');
    expect(Object.keys(headers).filter((name) => /stainless|x-goog-api-client/.test(name))).toEqual([]);
  });

  it.each([
    [401, 'provider.auth_error', false],
    [429, 'provider.rate_limit', true],
    [500, 'provider.api_error', true],
    [529, 'provider.overloaded', true],
    [404, 'provider.api_error', false],
  ])('maps status %i', async (status, code, retry) => {
    const headers = { 'retry-after': '3', 'x-trace-id': 't1', 'x-request-id': 'r1' };
    const error = await failure({ status, error: 'something went wrong', headers });
    expect(error.message).toBe(`${status} something went wrong`);
    expect(error.details).toEqual({
      code,
      name: 'APIStatusError',
      retry,
      statusCode: status,
      requestId: 'r1',
      traceId: 't1',
      retryAfterMs: 3000,
    });
    expect(server.requests).toHaveLength(1);
  });

  it('recognizes a context overflow', async () => {
    const error = await failure({ status: 400, error: 'This exceeds the maximum context of the model' });
    expect(error.details).toMatchObject({ code: 'context.overflow', retry: false });
  });

  it('classifies an error inside the stream by its words', async () => {
    const error = await failure({
      text: 'a',
      streamError: google
        ? { code: 429, message: 'slow down', status: 'RESOURCE_EXHAUSTED' }
        : type === 'openai_responses'
          ? { code: 'rate_limit_exceeded', message: 'slow down' }
          : { type: 'rate_limit_error', message: 'slow down' },
    });
    expect(error.message).toBe('429 slow down');
    expect(error.details).toMatchObject({ code: 'provider.rate_limit', retry: true, statusCode: 429 });
  });

  it.each([
    ['breaks off', { text: 'Hel', breakOff: true }],
    ['ends without its end mark', { text: 'Hel', noEnd: true }],
    ['holds a line that is no JSON', { text: 'Hel', malformed: true }],
    ['falls silent', { text: 'Hel', hold: true }],
    ['never begins', { hang: true }],
  ] satisfies [string, Script][])('treats a stream that %s as a broken connection', async (_, script) => {
    const parts: StreamPart[] = [];
    server.enqueue(script);
    const error: unknown = await client.streamModel(request(), (part) => parts.push(part)).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ModelError);
    expect((error as ModelError).details).toMatchObject({
      code: 'provider.connection_error',
      name: 'APIConnectionError',
      retry: true,
    });
    expect(parts).toEqual('text' in script ? [{ type: 'text', text: 'Hel' }] : []);
  });

  it('treats an answer with a wrong content-length as broken or complete, by what arrived', async () => {
    server.enqueue({ text: 'Hel', headers: { 'content-length': '20' } });
    const short: unknown = await client.streamModel(request(), () => {}).catch((e: unknown) => e);
    expect(short).toBeInstanceOf(ModelError);
    expect((short as ModelError).details).toMatchObject({ code: 'provider.connection_error', retry: true });
    // With an end mark the response is complete without waiting for further bytes.
    server.enqueue({ text: 'Hel', headers: { 'content-length': '1000000' } });
    const long: unknown = await client.streamModel(request(), () => {}).catch((e: unknown) => e);
    if (long instanceof ModelError)
      expect(long.details).toMatchObject({ code: 'provider.connection_error', retry: true });
    else expect(long).toMatchObject({ finishReason: 'completed' });
    server.enqueue({ text: 'Hello' });
    await expect(client.streamModel(request(), () => {})).resolves.toMatchObject({ finishReason: 'completed' });
  });

  it('treats a refused connection as a broken one', async () => {
    const unused = createServer();
    await new Promise<void>((resolve) => unused.listen(0, '127.0.0.1', resolve));
    const { port } = unused.address() as AddressInfo;
    await new Promise((resolve) => unused.close(resolve));
    const model = resolvedModel(server, type, { baseUrl: `http://127.0.0.1:${port}` });
    const error: unknown = await client.streamModel(modelRequest(model), () => {}).catch((e: unknown) => e);
    expect((error as ModelError).details).toMatchObject({ code: 'provider.connection_error', retry: true });
    expect((error as ModelError).message).toContain('ECONNREFUSED');
  });

  it('rejects with the reason of the abort, before, at the start and in mid-stream', async () => {
    const before = AbortSignal.abort(new Error('stopped before'));
    await expect(client.streamModel(request({ signal: before }), () => {})).rejects.toThrow('stopped before');
    expect(server.requests).toHaveLength(0);

    const early = new AbortController();
    server.enqueue({ hang: true });
    const pending = client.streamModel(request({ signal: early.signal }), () => {}).catch((error: unknown) => error);
    await server.waitForRequest(1);
    early.abort(new Error('stopped early'));
    expect(await pending).toMatchObject({ message: 'stopped early' });

    const late = new AbortController();
    const held = server.enqueue({ text: 'Hel', hold: true });
    let text = '';
    const running = client.streamModel(request({ signal: late.signal }), (part) => {
      if (part.type === 'text') text += part.text;
      late.abort(new Error('stopped late'));
    });
    await expect(running).rejects.toThrow('stopped late');
    expect(text).toBe('Hel');
    await held.sent;
    await server.waitForAbort(2);
  });

  it('completes a held stream on release', async () => {
    const held = server.enqueue({ text: 'Hel', hold: true });
    let response: ModelResponse | undefined;
    const running = client.streamModel(request(), () => {}).then((value) => (response = value));
    await held.sent;
    expect(response).toBeUndefined();
    held.release();
    await running;
    expect(response).toMatchObject({ finishReason: 'completed' });
  });
});

function finishWords(type: string): [string, string][] {
  switch (type) {
    case 'anthropic':
      return [
        ['stop_sequence', 'completed'],
        ['max_tokens', 'truncated'],
        ['refusal', 'filtered'],
        ['pause_turn', 'paused'],
        ['model_context_window_exceeded', 'other'],
      ];
    case 'openai_responses':
      return [
        ['max_output_tokens', 'truncated'],
        ['content_filter', 'filtered'],
        ['max_tool_calls', 'other'],
      ];
    case 'google-genai':
    case 'vertexai':
      return [
        ['MAX_TOKENS', 'truncated'],
        ['SAFETY', 'filtered'],
        ['MALFORMED_FUNCTION_CALL', 'other'],
      ];
    default:
      return [
        ['length', 'truncated'],
        ['content_filter', 'filtered'],
        ['function_call', 'tool_calls'],
        ['insufficient_system_resource', 'other'],
      ];
  }
}
