/** Models with a login: the access token of each request, one renewal and one replay after a 401. */
import { beforeEach, expect, it, onTestFinished, test } from 'vitest';
import { createModelClient, type ModelClient } from '#server/models/stream.ts';
import type { ResolvedModel, StreamPart } from '#server/models/types.ts';
import { cloudDuringTest, type Cloud } from '#support/cloud/cloud.ts';
import { openTokens, storeToken } from '#support/cloud/login.ts';
import { createCloudOAuth, type CloudOAuth, type IssuedToken } from '#support/cloud/oauth.ts';
import { modelRequest, resolvedModel, WIRE_TYPES } from '#support/model-requests.ts';
import { startModelServer, type ModelServer } from '#support/model-server.ts';
import { temporaryHome } from '#support/temporary-home.ts';

let home: string;
let server: ModelServer;
let oauth: CloudOAuth;
let cloud: Cloud;
let client: ModelClient;
let token: IssuedToken;
const used: string[] = [];
const login = { storage: 'file' as const, key: 'oauth/k' };

beforeEach(async () => {
  home = await temporaryHome();
  oauth = createCloudOAuth();
  cloud = await cloudDuringTest(oauth.part);
  server = await startModelServer();
  onTestFinished(() => server.close());
  const { tokens } = openTokens(home);
  used.length = 0;
  client = createModelClient({
    logins: {
      authorized: ({ key }, send, options) => tokens.withAccessToken({ key, oauthHost: cloud.url }, send, options),
      noteUse: (address) => void used.push(address),
    },
  });
  onTestFinished(() => client.close());
  token = oauth.issue();
  await storeToken(home, 'k', token);
  server.answerBy(({ headers }) =>
    oauth.accepts(headers) ? undefined : { status: 401, error: 'invalid token', headers: { 'x-trace-id': 'trace' } },
  );
});

const modelOf = (type: ResolvedModel['providerType']) => resolvedModel(server, type, { credential: { login } });
async function run(model: ResolvedModel) {
  const parts: StreamPart[] = [];
  const response = await client.streamModel(modelRequest(model), (part) => parts.push(part));
  return { response, parts };
}

test.each(WIRE_TYPES)('a request of %s has the token, and is sent again once after a 401', async (type) => {
  const model = modelOf(type);
  server.enqueue({ text: 'one' });
  await run(model);
  expect(server.requests[0]?.headers).toMatchObject({ authorization: `Bearer ${token.access_token}` });
  expect(server.requests[0]?.headers).not.toHaveProperty('x-goog-api-key');
  expect(used).toEqual([model.baseUrl]);

  oauth.end(token.access_token);
  server.enqueue({ text: 'two' });
  const { parts } = await run(model);
  expect(parts).toMatchObject([{ type: 'text', text: 'two' }]);
  const [, refused, replayed] = server.requests;
  expect(server.requests).toHaveLength(3);
  expect(refused?.headers.authorization).toBe(`Bearer ${token.access_token}`);
  expect(replayed?.headers.authorization).not.toBe(refused?.headers.authorization);
  expect(replayed?.body).toEqual(refused?.body);
  expect(oauth.refreshes).toHaveLength(1);
});

it('ends with the second 401', async () => {
  server.answerBy(() => ({ status: 401, error: 'no access', headers: { 'x-trace-id': 'trace' } }));
  await expect(run(modelOf('native'))).rejects.toMatchObject({
    message: '401 no access',
    details: { code: 'provider.auth_error', retry: false, statusCode: 401, traceId: 'trace' },
  });
  expect(server.requests).toHaveLength(2);
  expect(oauth.refreshes).toHaveLength(1);
});

it('is not sent again after a part of the reply', async () => {
  server.enqueue({ text: 'part', streamError: { type: 'authentication_error', message: 'expired', code: 401 } });
  await expect(run(modelOf('native'))).rejects.toMatchObject({ details: { code: 'provider.auth_error' } });
  expect(server.requests).toHaveLength(1);
  expect(oauth.refreshes).toEqual([]);
});

it.each([402, 403, 429])('is not sent again after another refusal, %d', async (status) => {
  server.answerBy(() => ({ status, error: 'no' }));
  await expect(run(modelOf('native'))).rejects.toMatchObject({ details: { statusCode: status } });
  expect(server.requests).toHaveLength(1);
  expect(oauth.refreshes).toEqual([]);
});

it.each(WIRE_TYPES)('of %s needs a new login after a refused renewal', async (type) => {
  oauth.end(token.access_token);
  oauth.endGrants();
  await expect(run(modelOf(type))).rejects.toMatchObject({
    message: 'The login has ended; log in again',
    details: { code: 'auth.login_required', retry: false, name: 'AccessTokenError' },
  });
  expect(server.requests).toHaveLength(1);
  // The tombstone: no request is sent any more.
  await expect(run(modelOf(type))).rejects.toMatchObject({ details: { code: 'auth.login_required' } });
  expect(server.requests).toHaveLength(1);
});

it('without a stored token is not sent', async () => {
  const model = resolvedModel(server, 'native', { credential: { login: { storage: 'file', key: 'oauth/other' } } });
  await expect(run(model)).rejects.toMatchObject({ details: { code: 'auth.token_missing', retry: false } });
  expect(server.requests).toEqual([]);
});

it('reports the cause of a failed renewal', async () => {
  oauth.end(token.access_token);
  oauth.answerNext({ status: 400, body: { error: 'invalid_request', error_description: 'not now' } });
  await expect(run(modelOf('native'))).rejects.toMatchObject({
    message: 'The login could not be renewed: not now',
    details: { code: 'provider.connection_error', retry: false },
  });
});

it('is aborted while its token is obtained', async () => {
  oauth.end(token.access_token);
  const turn = new AbortController();
  oauth.answerNext(async () => {
    turn.abort(new Error('stopped'));
    return 'hang';
  });
  const request = modelRequest(modelOf('native'), { signal: turn.signal });
  await expect(client.streamModel(request, () => {})).rejects.toThrow('stopped');
});

it('of a video is sent again once after a 401', async () => {
  const upload = {
    model: modelOf('native'),
    type: 'video/mp4',
    data: new Uint8Array([1]),
    signal: new AbortController().signal,
  };
  server.refuseFile(401);
  expect(await client.uploadVideo(upload)).toBe('file-2');
  expect(oauth.refreshes).toHaveLength(1);
  server.refuseFile(401);
  server.refuseFile(401);
  await expect(client.uploadVideo(upload)).rejects.toMatchObject({ details: { code: 'provider.auth_error' } });
  expect(server.files).toHaveLength(4);
});
