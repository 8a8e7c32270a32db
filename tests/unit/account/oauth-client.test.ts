/** Requests to the OAuth host: lenient reading of replies, errors, time limits. */
import { beforeEach, describe, expect, it, test } from 'vitest';
import { cloudDuringTest, type Cloud, type CloudReply } from '#support/cloud/cloud.ts';
import { openTokens } from '#support/cloud/login.ts';
import type { ManualClock } from '#support/manual-clock.ts';
import { until } from '#support/patience.ts';
import { temporaryHome } from '#support/temporary-home.ts';
import type { OAuthClient } from '#server/account/oauth-client.ts';

let cloud: Cloud;
let reply: CloudReply | 'hang';
let oauth: OAuthClient;
let clock: ManualClock;
beforeEach(async () => {
  cloud = await cloudDuringTest(() => reply);
  ({ oauth, clock } = openTokens(await temporaryHome()));
});

const fields = () => Object.fromEntries(new URLSearchParams(cloud.requests[0]?.body));
const code = {
  device_code: 'd',
  user_code: 'ABCD-EFGH',
  verification_uri: 'http://c/device',
  verification_uri_complete: 'http://c/device?user_code=ABCD-EFGH',
  expires_in: 600,
  interval: 7,
};

describe('a device code', () => {
  it('is requested with the client id only', async () => {
    reply = { body: { ...code, more: 1 } };
    expect(await oauth.requestDeviceCode(cloud.url)).toEqual(code);
    expect(cloud.requests).toMatchObject([{ method: 'POST', path: '/api/oauth/device_authorization' }]);
    expect(fields()).toEqual({ client_id: 'service-code-local' });
  });

  test.each<[string, object, object]>([
    ['without numbers', { interval: undefined, expires_in: undefined }, { interval: 5, expires_in: 900 }],
    ['with decimal strings', { interval: '7', expires_in: '60' }, { interval: 7, expires_in: 60 }],
    ['with other numbers', { interval: 0, expires_in: -1 }, { interval: 5, expires_in: 900 }],
    ['without a short address', { verification_uri: undefined }, { verification_uri: '' }],
  ])('%s is read', async (_what, change, expected) => {
    reply = { body: { ...code, ...change } };
    expect(await oauth.requestDeviceCode(cloud.url)).toMatchObject(expected);
  });

  test.each(['device_code', 'user_code', 'verification_uri_complete'])('without %s is refused', async (member) => {
    reply = { body: { ...code, [member]: ' ' } };
    await expect(oauth.requestDeviceCode(cloud.url)).rejects.toMatchObject({
      name: 'OAuthError',
      message: 'The login service sent an invalid reply',
      status: 200,
      code: undefined,
    });
  });
});

describe('a poll', () => {
  it('returns the token', async () => {
    const token = { access_token: 'a', refresh_token: 'r', expires_in: 60, token_type: 'Bearer', scope: 's' };
    reply = { body: token };
    expect(await oauth.pollToken(cloud.url, 'd')).toEqual(token);
    expect(fields()).toEqual({
      client_id: 'service-code-local',
      device_code: 'd',
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    });
  });

  test.each<[string, CloudReply, { message: string; status: number; code?: string | undefined }]>([
    ['a code', { status: 400, body: { error: 'slow_down' } }, { message: 'slow_down', status: 400, code: 'slow_down' }],
    [
      'a description',
      { status: 400, body: { error: 'access_denied', error_description: 'You said no' } },
      { message: 'You said no', status: 400, code: 'access_denied' },
    ],
    [
      'an error with a status of success',
      { status: 200, body: { error: 'expired_token' } },
      { message: 'expired_token', status: 200, code: 'expired_token' },
    ],
    [
      'no JSON',
      { status: 502, body: '<html>' },
      { message: 'The cloud answered with HTTP status 502', status: 502, code: undefined },
    ],
    [
      'an error that is no text',
      { status: 400, body: { error: { message: 'm' } } },
      { message: 'm', status: 400, code: undefined },
    ],
  ])('throws the error of a reply with %s', async (_what, refusal, expected) => {
    reply = refusal;
    await expect(oauth.pollToken(cloud.url, 'd')).rejects.toMatchObject({ name: 'OAuthError', ...expected });
  });
});

it('a revocation sends the refresh token and accepts an empty reply', async () => {
  reply = { body: '' };
  await oauth.revoke(cloud.url, 'r');
  expect(cloud.requests[0]?.path).toBe('/api/oauth/revoke');
  expect(fields()).toEqual({ client_id: 'service-code-local', token: 'r', token_type_hint: 'refresh_token' });
  reply = { status: 400, body: { error: 'no' } };
  await expect(oauth.revoke(cloud.url, 'r')).rejects.toMatchObject({ status: 400, message: 'no' });
});

test.each<[string, number, () => Promise<unknown>]>([
  ['a refresh', 30_000, () => oauth.refresh(cloud.url, 'r')],
  ['a device authorization', 30_000, () => oauth.requestDeviceCode(cloud.url)],
  ['a revocation', 3000, () => oauth.revoke(cloud.url, 'r')],
])('%s waits %d ms for a host that hangs', async (_what, ms, request) => {
  reply = 'hang';
  const outcome = request().catch((error: unknown) => error);
  await until(() => cloud.requests.length === 1);
  clock.advance(ms - 1);
  expect(clock.waits()).toEqual([1]);
  clock.advance(1);
  expect(await outcome).toMatchObject({
    name: 'OAuthError',
    status: undefined,
    message: `The login service could not be reached: no answer within ${ms / 1000} s`,
  });
});

it('follows no redirect and reads bounded replies', async () => {
  reply = { status: 307, headers: { location: `${cloud.url}/elsewhere` } };
  await expect(oauth.refresh(cloud.url, 'secret')).rejects.toMatchObject({ status: 307 });
  expect(cloud.requests).toHaveLength(1);
  reply = { body: 'x'.repeat(300_000) };
  await expect(oauth.refresh(cloud.url, 'secret')).rejects.toThrow('larger than 262144 bytes');
});

it('names the reason of a broken connection', async () => {
  await expect(oauth.refresh('http://127.0.0.1:1', 'r')).rejects.toThrow('ECONNREFUSED');
  await expect(oauth.refresh('no address', 'r')).rejects.toMatchObject({ name: 'OAuthError', status: undefined });
});
