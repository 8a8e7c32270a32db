import { describe, expect, it } from 'vitest';
import { streamError, toModelError } from '#server/models/errors.ts';
import type { ModelErrorDetails } from '#server/models/types.ts';

function http(status: number, body: unknown, headers: Record<string, string> = {}, native = false) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return toModelError(
    new Error('from the SDK'),
    { headers: new Headers(headers), failure: { status, body: text } },
    native,
  );
}

describe('classification of HTTP failures', () => {
  it.each<[number, string, Partial<ModelErrorDetails>]>([
    [400, "This model's maximum context length is 8192 tokens", { code: 'context.overflow', retry: false }],
    [400, 'prompt is too long: 210000 tokens > 200000 maximum', { code: 'context.overflow' }],
    [400, 'Input token count (9) exceeds the maximum number of tokens allowed (8)', { code: 'context.overflow' }],
    [413, 'input exceeds the context window of this model', { code: 'context.overflow' }],
    [429, 'too many tokens in the prompt', { code: 'provider.rate_limit', retry: true }],
    [413, 'Request entity too large', { code: 'provider.api_error', retry: false, recovery: 'request_too_large' }],
    [503, 'The server is overloaded', { code: 'provider.overloaded', retry: true }],
    [502, 'bad gateway', { code: 'provider.api_error', retry: true }],
    [403, 'no', { code: 'provider.auth_error', retry: false }],
    [422, 'no', { code: 'provider.api_error', retry: false }],
    [400, 'Invalid image format: only PNG', { recovery: 'image_format', retry: false }],
    [400, 'tool_use ids were found without tool_result blocks', { recovery: 'structure', retry: false }],
    [400, 'messages: roles must alternate', { recovery: 'structure' }],
    [400, 'messages: text content blocks must be non-empty', { recovery: 'structure' }],
  ])('%i %s', (status, message, facts) => {
    expect(http(status, { error: { message } }).details).toMatchObject({ ...facts, statusCode: status });
  });

  it('recognizes the overflow code without the words', () => {
    const error = http(400, { error: { message: 'no', code: 'context_length_exceeded' } });
    expect(error.details.code).toBe('context.overflow');
  });

  it('does not retry an exhausted quota of the native provider, by type or wording', () => {
    const typed = { error: { message: 'no', type: 'exceeded_current_quota_error' } };
    expect(http(429, typed, {}, true).details).toMatchObject({ code: 'provider.api_error', retry: false });
    const worded = { error: { message: 'Your balance is exhausted' } };
    expect(http(429, worded, {}, true).details).toMatchObject({ code: 'provider.api_error', retry: false });
    expect(http(429, typed).details).toMatchObject({ code: 'provider.rate_limit', retry: true });
    expect(http(429, { error: { message: 'slow down' } }, {}, true).details.code).toBe('provider.rate_limit');
  });

  it('extracts the text from all forms of an error body', () => {
    expect(http(400, { message: 'plain' }).message).toBe('400 plain');
    expect(http(400, 'just text\r\n').message).toBe('400 just text');
    expect(http(400, '').message).toBe('400 Bad Request');
    expect(http(502, '<html><head><title>Bad gateway</title></head></html>').message).toBe('502 Bad gateway');
    expect(http(400, [{ error: { message: 'in a list' } }]).message).toBe('400 in a list');
    expect(http(400, { error: { message: '{"error":{"message":"inner"}}' } }).message).toBe('400 inner');
  });

  it('adds a hint to a rejected effort', () => {
    expect(http(400, { error: { message: 'unknown reasoning effort' } }).message).toContain('support_efforts');
  });

  it('reads Retry-After in whole positive seconds, else the retry info of Gemini', () => {
    const body = { error: { message: 'x', details: [{ '@type': 'google.rpc.RetryInfo', retryDelay: '2.5s' }] } };
    expect(http(429, body).details.retryAfterMs).toBe(2500);
    expect(http(429, body, { 'retry-after': '7' }).details.retryAfterMs).toBe(7000);
    expect(http(429, {}, { 'retry-after': '0' }).details.retryAfterMs).toBeUndefined();
    expect(http(429, {}, { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }).details.retryAfterMs).toBeUndefined();
  });
});

describe('errors inside a stream', () => {
  it.each<[Record<string, unknown>, Partial<ModelErrorDetails>, string]>([
    [{ code: 503, message: 'overloaded' }, { code: 'provider.overloaded', statusCode: 503 }, '503 overloaded'],
    [{ type: 'overloaded_error', message: 'busy' }, { code: 'provider.overloaded', retry: true }, '529 busy'],
    [{ type: 'authentication_error', message: 'key' }, { code: 'provider.auth_error', retry: false }, '401 key'],
    [{ type: 'permission_error', message: 'no' }, { code: 'provider.auth_error' }, '401 no'],
    [{ type: 'invalid_request_error', message: 'bad' }, { code: 'provider.api_error', retry: false }, '400 bad'],
    [{ code: 'context_length_exceeded', message: 'long' }, { code: 'context.overflow' }, '400 long'],
    [{ code: 'server_error', message: 'oops' }, { code: 'provider.api_error', retry: true }, 'oops'],
  ])('%o', (payload, facts, message) => {
    const error = streamError(payload, {}, false);
    expect(error.details).toMatchObject(facts);
    expect(error.message).toBe(message);
  });
});

describe('errors that the SDKs throw', () => {
  it('retries unknown errors, unless they are about an image', () => {
    expect(toModelError(new Error('odd'), {}, false).details).toMatchObject({
      code: 'provider.api_error',
      retry: true,
    });
    expect(toModelError(new Error('unsupported image type'), {}, false).details.retry).toBe(false);
  });

  it('treats a broken socket and an invalid line as a broken connection', () => {
    const reset = Object.assign(new Error('socket'), { code: 'ECONNRESET' });
    for (const error of [new TypeError('terminated'), new Error('x', { cause: reset }), new SyntaxError('JSON')]) {
      expect(toModelError(error, {}, false).details.code).toBe('provider.connection_error');
    }
  });
});
