/** The REST client: cancelled calls, and the calls for many sessions. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ConnectionError, isUnauthorized } from '../../../web/client/errors.ts';
import { createRest, type Rest } from '../../../web/client/rest.ts';
import { eventually } from '#support/patience.ts';

let http: Server;
let rest: Rest;
/** Requests so far, with their bodies. */
let asked: string[];
/** Whether the client closed the connection before the reply. */
let isClosed: boolean;
/** The data of each reply; undefined sends none. */
let answer: (path: string) => unknown;
/** An error of the relay, sent instead of a reply. */
let relayError: string | undefined;

beforeEach(async () => {
  asked = [];
  isClosed = false;
  relayError = undefined;
  http = createServer((request, response) => {
    void text(request).then((body) => {
      asked.push(`${request.method} ${request.url} ${body}`.trim());
      if (relayError !== undefined) {
        response.writeHead(401, { 'x-service-relay-error': relayError });
        return void response.end(JSON.stringify({ code: 40101, msg: 'no', data: null, request_id: 'r' }));
      }
      const data = answer(request.url ?? '');
      response.on('close', () => (isClosed ||= !response.writableFinished));
      if (data !== undefined) response.end(JSON.stringify({ code: 0, msg: 'success', data, request_id: 'r' }));
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  rest = createRest({ baseUrl: `http://127.0.0.1:${port}/`, token: () => undefined });
});
afterEach(async () => {
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
});

it('cancels a search: the connection is closed, and the reason is no lost connection', async () => {
  answer = () => undefined;
  const controller = new AbortController();
  const search = rest.search({ query: 'fish', mode: 'literal' }, controller.signal);
  await eventually(() => expect(asked).toEqual(['POST /api/v1/search {"query":"fish","mode":"literal"}']));
  const reason = new Error('a newer query');
  controller.abort(reason);
  await expect(search).rejects.toBe(reason);
  await eventually(() => expect(isClosed).toBe(true));
});

it('reports a lost connection as such, although the call could have been cancelled', async () => {
  answer = () => {
    http.closeAllConnections();
    return undefined;
  };
  await expect(rest.search({ query: 'fish' }, new AbortController().signal)).rejects.toThrow(ConnectionError);
});

it('reads the ids of all sessions page by page', async () => {
  answer = (path) =>
    path.includes('page_token=next')
      ? { items: [{ id: 'c', archived: true }], next_page_token: null }
      : { items: ['a', 'b'].map((id) => ({ id, archived: true })), next_page_token: 'next' };
  expect(await rest.sessionIds(true)).toEqual(['a', 'b', 'c']);
  const query = 'meta.archived=true&fields=id%2Carchived&page_size=10000';
  expect(asked).toEqual([`GET /api/v2/sessions?${query}`, `GET /api/v2/sessions?${query}&page_token=next`]);
});

it('archives and restores by the batch endpoints', async () => {
  answer = () => ({ results: [{ id: 'a', ok: true }], succeeded: 1, failed: 0 });
  expect(await rest.archiveMany(['a'])).toMatchObject({ succeeded: 1 });
  expect(await rest.restoreMany(['a'])).toMatchObject({ succeeded: 1 });
  expect(asked).toEqual(['POST /api/v2/sessions:archive {"ids":["a"]}', 'POST /api/v2/sessions:restore {"ids":["a"]}']);
});

it.each(['login_required', 'other'])('a refusal by the relay (%s) is no refused token', async (code) => {
  relayError = code;
  const error: unknown = await rest.meta().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConnectionError);
  expect(isUnauthorized(error)).toBe(false);
  expect(error).toMatchObject({ code, message: expect.stringMatching(/relay/) });
  await expect(rest.bytes('files/f')).rejects.toMatchObject({ code });
});
