/** The polls of a device grant: intervals, replaced codes, failures, the time limit. */
import { describe, expect, it, test } from 'vitest';
import { LOGIN_BUDGET_MS, pollForToken } from '#server/account/device-grant.ts';
import { OAuthError, type DeviceCode, type TokenReply } from '#server/account/oauth-client.ts';
import { manualClock } from '#support/manual-clock.ts';
import { until } from '#support/patience.ts';

const TOKEN: TokenReply = { access_token: 'a', refresh_token: 'r', expires_in: 60, token_type: 'Bearer', scope: '' };
const codeOf = (name: string, interval = 5): DeviceCode => ({
  device_code: name,
  user_code: name,
  verification_uri: 'http://c/device',
  verification_uri_complete: 'http://c/device?user_code=x',
  expires_in: 900,
  interval,
});
const answer = (code: string, status = 400) => new OAuthError(code, { status, code });
const PENDING = answer('authorization_pending');
const UNREACHABLE = new OAuthError('The login service could not be reached: connection refused');

type Reply = OAuthError | TokenReply | 'hang';

/** Polls with these replies; further ones are `authorization_pending`. */
function start(replies: Reply[], { codes = [] as (DeviceCode | OAuthError)[], interval = 5 } = {}) {
  const clock = manualClock();
  const startedAt = clock.now();
  const abort = new AbortController();
  /** The device code and the second of each request. */
  const requests: [string, number][] = [];
  const renewed: string[] = [];
  const second = () => (clock.now() - startedAt) / 1000;
  let outcome: { token?: TokenReply; error?: unknown } | undefined;
  const hang = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(UNREACHABLE)));
  void pollForToken({
    code: codeOf('first', interval),
    startedAt,
    async requestCode() {
      requests.push(['code', second()]);
      const next = codes.shift() ?? codeOf('next');
      if (next instanceof OAuthError) throw next;
      return next;
    },
    async requestToken(code, signal) {
      requests.push([code, second()]);
      const next = replies.shift() ?? PENDING;
      if (next === 'hang') return hang(signal);
      if (next instanceof OAuthError) throw next;
      return next;
    },
    onNewCode: ({ device_code }) => void renewed.push(device_code),
    clock,
    signal: abort.signal,
  }).then(
    (token) => (outcome = { token }),
    (error: unknown) => (outcome = { error }),
  );
  return {
    clock,
    abort,
    requests,
    renewed,
    /** Moves the clock from timer to timer until the poll has ended. */
    async run() {
      for (;;) {
        // The budget is always one of the timers.
        await until(() => outcome ?? clock.waits().length > 1, 'the next wait');
        if (outcome) return outcome;
        clock.advance(clock.waits()[0] ?? 0);
        // Lets the reply of the poll arrive.
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

const seconds = (requests: [string, number][]) => requests.map(([, at]) => at);

describe('the interval', () => {
  it('begins after the first poll, which is immediate', async () => {
    const flow = start([PENDING, PENDING, TOKEN]);
    expect(await flow.run()).toEqual({ token: TOKEN });
    expect(seconds(flow.requests)).toEqual([0, 5, 10]);
  });

  it('is that of the code', async () => {
    const flow = start([PENDING, TOKEN], { interval: 7 });
    await flow.run();
    expect(seconds(flow.requests)).toEqual([0, 7]);
  });

  it('grows by 5 s with each slow_down, until the code is replaced', async () => {
    const flow = start([
      answer('slow_down'),
      PENDING,
      answer('slow_down'),
      PENDING,
      answer('expired_token'),
      PENDING,
      TOKEN,
    ]);
    await flow.run();
    expect(flow.requests).toEqual([
      ['first', 0],
      ['first', 10],
      ['first', 20],
      ['first', 35],
      ['first', 50],
      ['code', 50],
      ['next', 50],
      ['next', 55],
    ]);
  });

  it('doubles with each failure in a row up to 60 s, and a reply resets it', async () => {
    const flow = start([UNREACHABLE, answer('x', 503), UNREACHABLE, answer('x', 500), PENDING, UNREACHABLE, TOKEN]);
    await flow.run();
    expect(seconds(flow.requests)).toEqual([0, 10, 30, 70, 130, 135, 145]);
  });

  it('is never shorter than that of the code', async () => {
    const flow = start([UNREACHABLE, UNREACHABLE, TOKEN], { interval: 90 });
    await flow.run();
    expect(seconds(flow.requests)).toEqual([0, 90, 180]);
  });
});

describe('an expired code', () => {
  it('is replaced by a new one', async () => {
    const flow = start([PENDING, answer('expired_token'), TOKEN], { codes: [codeOf('second')] });
    expect(await flow.run()).toEqual({ token: TOKEN });
    expect(flow.renewed).toEqual(['second']);
  });

  it('is replaced after an interval if it had expired at its first poll', async () => {
    const flow = start([answer('expired_token'), answer('expired_token'), TOKEN]);
    await flow.run();
    expect(flow.requests).toEqual([
      ['first', 0],
      ['code', 5],
      ['next', 5],
      ['code', 10],
      ['next', 10],
    ]);
  });

  it('is requested again after a failure', async () => {
    const flow = start([PENDING, answer('expired_token'), TOKEN], { codes: [UNREACHABLE, codeOf('second')] });
    expect(await flow.run()).toEqual({ token: TOKEN });
    expect(flow.requests.slice(2)).toEqual([
      ['code', 5],
      ['code', 15],
      ['second', 15],
    ]);
  });

  it('ends the login if the cloud refuses a new one', async () => {
    const flow = start([answer('expired_token')], { codes: [answer('authorization_pending')] });
    expect(await flow.run()).toMatchObject({ error: { status: 'denied' } });
  });
});

describe('the end', () => {
  test.each(['access_denied', 'invalid_grant', 'invalid_client', 'server_error'])('%s is final', async (code) => {
    const flow = start([PENDING, answer(code)]);
    expect(await flow.run()).toMatchObject({
      error: { name: 'LoginFailure', status: 'denied', message: `Authorization denied: ${code}` },
    });
  });

  it('follows 5 failures in a row', async () => {
    const flow = start(Array.from({ length: 9 }, () => UNREACHABLE));
    expect(await flow.run()).toMatchObject({
      error: { status: 'denied', message: `Login failed: ${UNREACHABLE.message}` },
    });
    expect(seconds(flow.requests)).toEqual([0, 10, 30, 70, 130]);
  });

  it('follows 15 minutes after the start, whatever the life of the codes', async () => {
    const flow = start([]);
    expect(await flow.run()).toMatchObject({
      error: { status: 'expired', message: 'The login was not confirmed in time.' },
    });
    expect(seconds(flow.requests).at(-1)).toBe(LOGIN_BUDGET_MS / 1000 - 5);
    expect(flow.clock.waits()).toEqual([]);
  });

  it('does not wait for a poll without a reply', async () => {
    const flow = start(['hang']);
    await until(() => flow.requests.length === 1);
    flow.clock.advance(LOGIN_BUDGET_MS);
    expect(await flow.run()).toMatchObject({ error: { status: 'expired' } });
  });

  it.each<[string, Reply, number]>([
    ['a wait', PENDING, 2],
    ['a poll', 'hang', 1],
  ])('is immediate when the login is cancelled during %s', async (_what, reply, timers) => {
    const flow = start([reply]);
    await until(() => flow.requests.length === 1 && flow.clock.waits().length === timers);
    const reason = new Error('cancelled');
    flow.abort.abort(reason);
    expect(await flow.run()).toEqual({ error: reason });
    expect(flow.requests).toHaveLength(1);
    expect(flow.clock.waits()).toEqual([]);
  });
});
