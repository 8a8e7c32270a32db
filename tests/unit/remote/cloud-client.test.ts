/** A relay that quotes the credentials of a request, or sends ones that no header can carry. */
import { createServer, type IncomingMessage } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import type { Account } from '#server/account/account.ts';
import { systemClock } from '#server/clock.ts';
import { createHttpClient } from '#server/net/http-client.ts';
import { createCloudClient } from '#server/remote/cloud-client.ts';
import { listenDuringTest } from '#support/listen-during-test.ts';

const ACCESS = 'access-token-of-the-login';
const SESSION = 'session-token-of-the-relay';

/** A client of a relay that answers as `answer` specifies. */
async function clientOf(answer: (request: IncomingMessage) => [status: number, body: object]) {
  const port = await listenDuringTest(
    createServer((request, response) => {
      const [status, body] = answer(request);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }),
  );
  const { fetch, close } = createHttpClient();
  onTestFinished(close);
  const account: Pick<Account, 'managedLogin' | 'addresses' | 'noteUse' | 'tokens'> = {
    managedLogin: async () => ({ slot: { key: 'oauth/x', oauthHost: '' }, baseUrl: '' }),
    addresses: async () => ({
      cdnBase: '',
      siteBase: '',
      remoteBase: `http://127.0.0.1:${port}`,
      modelDirectoryUrl: '',
      telemetryEndpoint: undefined,
    }),
    noteUse: () => undefined,
    tokens: { withAccessToken: (_slot: unknown, send: (token: string) => unknown) => send(ACCESS) } as never,
  };
  return createCloudClient({ account: account as Account, fetch, headers: () => ({}), clock: systemClock });
}

const quoted = ({ headers }: IncomingMessage) => ({ error: { code: 'x', message: `${headers.authorization} is bad` } });

it('an error has no access token that the relay quotes', async () => {
  const client = await clientOf((request) => [400, quoted(request)]);
  await expect(client.request('GET', '/devices')).rejects.toMatchObject({
    message: 'Bearer [redacted] is bad',
    status: 400,
    code: 'x',
  });
});

it('an error has no cloud session that the relay quotes', async () => {
  const client = await clientOf((request) =>
    request.url?.endsWith('/session') ? [200, { session_token: SESSION, expires_in: 3600 }] : [409, quoted(request)],
  );
  await expect(client.request('GET', '/devices')).rejects.toMatchObject({ message: 'Bearer [redacted] is bad' });
});

it('a cloud session that no header can carry is an invalid reply', async () => {
  const client = await clientOf(() => [200, { session_token: `${SESSION}\r\nx: y`, expires_in: 3600 }]);
  await expect(client.request('GET', '/devices')).rejects.toMatchObject({
    message: 'The relay sent an invalid reply',
  });
});
