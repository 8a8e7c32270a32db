import { describe, expect, it } from 'vitest';
import { ServiceError } from '#server/errors/service-error.ts';
import { CloudRequestError } from '#server/remote/cloud-client.ts';
import { createReconnect } from '#server/remote/reconnect.ts';
import type { TunnelEnd } from '#server/remote/tunnel.ts';

const end = (code: number, more: Partial<TunnelEnd> = {}): TunnelEnd => ({
  code,
  reason: '',
  goAway: undefined,
  slept: false,
  connectedMs: 1000,
  ...more,
});
const rules = (random = 1, now = () => 0) => createReconnect(now, () => random);

describe('reaction to the end of a tunnel', () => {
  it.each([1006, 1011, 1012, 4008, 4321])('retries after close code %i', (code) => {
    expect(rules().afterEnd(end(code))).toMatchObject({ kind: 'retry', waitMs: 1000 });
  });

  it.each([1000, 4000])('is off after close code %i without a GOAWAY', (code) => {
    expect(rules().afterEnd(end(code))).toEqual({ kind: 'off' });
  });

  it.each([4004, 4005])('is off and not registered after close code %i', (code) => {
    expect(rules().afterEnd(end(code))).toEqual({ kind: 'off', unregistered: true });
  });

  it.each([4003, 4006, 4009])('is off with an error after close code %i', (code) => {
    expect(rules().afterEnd(end(code))).toMatchObject({ kind: 'off', error: expect.any(String) as string });
  });

  it('doubles the wait up to a minute, and starts again after a minute of connection', () => {
    const reconnect = rules();
    const waits = Array.from({ length: 8 }, () => reconnect.afterEnd(end(1006)));
    expect(waits.map((reaction) => reaction.kind === 'retry' && reaction.waitMs)).toEqual([
      1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000,
    ]);
    expect(reconnect.afterEnd(end(1006, { connectedMs: 60_000 }))).toMatchObject({ waitMs: 1000 });
  });

  it('waits a quarter of a second at least, and as long as the relay requests, up to an hour', () => {
    expect(rules(0).afterEnd(end(1006))).toMatchObject({ waitMs: 250 });
    const goAway = (retry_after_ms: number) => ({ goAway: { reason: 'busy', retry_after_ms } });
    expect(rules().afterEnd(end(1006, goAway(90_000)))).toMatchObject({ waitMs: 90_000 });
    expect(rules().afterEnd(end(1006, goAway(1e12)))).toMatchObject({ waitMs: 3_600_000 });
    expect(rules(0.5).afterEnd(end(4007))).toMatchObject({ waitMs: 2500 });
    expect(rules(0.5).afterEnd(end(4007, goAway(4000)))).toMatchObject({ waitMs: 4000 });
  });

  it('connects again immediately after a suspension and after a relay that restarts', () => {
    expect(rules().afterEnd(end(4008, { slept: true }))).toMatchObject({ waitMs: 250 });
    const goAway = { reason: 'server_shutting_down' };
    expect(rules().afterEnd(end(4000, { goAway }))).toMatchObject({ kind: 'retry', waitMs: 250 });
  });

  it('is off if the owner has stopped it at the relay', () => {
    expect(rules().afterEnd(end(1006, { goAway: { reason: 'user_requested' } }))).toEqual({ kind: 'off' });
  });

  it('drops the session after a refused ticket; the second in a row is final', () => {
    const reconnect = rules();
    const refused = end(4001, { connectedMs: 0 });
    expect(reconnect.afterEnd(refused)).toMatchObject({ kind: 'retry', dropSession: true });
    expect(reconnect.afterEnd(end(1006))).toMatchObject({ kind: 'retry' });
    expect(reconnect.afterEnd(refused)).toMatchObject({ kind: 'retry', dropSession: true });
    expect(reconnect.afterEnd(refused)).toMatchObject({ kind: 'off', error: expect.any(String) as string });
  });

  it('gives up after three protocol errors in five minutes', () => {
    let now = 0;
    const reconnect = rules(0, () => now);
    expect(reconnect.afterEnd(end(4002)).kind).toBe('retry');
    expect(reconnect.afterEnd(end(4002)).kind).toBe('retry');
    now = 5 * 60_000;
    expect(reconnect.afterEnd(end(4002)).kind).toBe('retry');
    expect(reconnect.afterEnd(end(4002)).kind).toBe('retry');
    expect(reconnect.afterEnd(end(4002)).kind).toBe('off');
  });
});

describe('reaction to a failed request', () => {
  it.each([undefined, 429, 500, 503])('retries after status %s', (status) => {
    const error = new CloudRequestError('no', { ...(status !== undefined && { status }), retryAfterMs: 5000 });
    expect(rules().afterFailure(error)).toEqual({ kind: 'retry', error: 'no', waitMs: 5000 });
  });

  it.each([400, 403, 404, 409])('is off after status %i', (status) => {
    expect(rules().afterFailure(new CloudRequestError('no', { status }))).toMatchObject({ kind: 'off', error: 'no' });
  });

  it('is off without a login', () => {
    const cause = new ServiceError('auth.token_unauthorized', 'log in');
    expect(rules().afterFailure(cause)).toEqual({ kind: 'off', error: 'log in', cause });
  });
});
