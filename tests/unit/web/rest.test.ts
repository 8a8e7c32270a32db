/** The REST client: addresses, replies of each form, cancelled calls, and the calls for many sessions. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ApiError, ConnectionError, createRest, isUnauthorized, type Rest } from '@service-code/client';
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
/** A reply with headers, sent instead of an envelope. */
let raw: { headers: Record<string, string>; body: string } | undefined;

beforeEach(async () => {
  asked = [];
  isClosed = false;
  relayError = undefined;
  raw = undefined;
  http = createServer((request, response) => {
    void text(request).then((body) => {
      asked.push(`${request.method} ${request.url} ${body}`.trim());
      if (relayError !== undefined) {
        response.writeHead(401, { 'x-service-relay-error': relayError });
        return void response.end(JSON.stringify({ code: 40101, msg: 'no', data: null, request_id: 'r' }));
      }
      if (raw) return void response.writeHead(200, raw.headers).end(raw.body);
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
  const search = rest.search({ query: 'fish', mode: 'literal' }, { signal: controller.signal });
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
  await expect(rest.search({ query: 'fish' }, { signal: new AbortController().signal })).rejects.toThrow(
    ConnectionError,
  );
});

it('cancels a named call too', async () => {
  answer = () => undefined;
  const controller = new AbortController();
  const read = rest.session('s', { signal: controller.signal });
  await eventually(() => expect(asked).toEqual(['GET /api/v1/sessions/s']));
  controller.abort(new Error('closed'));
  await expect(read).rejects.toThrow('closed');
});

it('fills the path and the query of an operation', async () => {
  answer = () => ({ items: [], has_more: false });
  const path = { session_id: 'a/b', path: 'src/ä?.ts' };
  await rest.request('GET /api/v1/sessions/{session_id}/fs/{path}:download', { path }).catch(() => undefined);
  const query = { 'workspace.id': ['one', 'two'], page: undefined };
  await rest.request('GET /api/v2/sessions', { query });
  expect(asked).toEqual([
    'GET /api/v1/sessions/a%2Fb/fs/src%2F%C3%A4%3F.ts:download',
    'GET /api/v2/sessions?workspace.id=one&workspace.id=two',
  ]);
});

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

it('rejects with all that an error reply contains', async () => {
  const body = { code: 40911, msg: 'no', data: { undoable: 1 }, request_id: 'r1', details: { reason: 'turns' } };
  raw = { headers: JSON_TYPE, body: JSON.stringify(body) };
  const error: unknown = await rest.undo('s', 2).catch((thrown: unknown) => thrown);
  const { request_id: requestId, ...members } = body;
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ ...members, requestId, status: 200 });
});

it('distinguishes a file, even one that has the form of a failure, from a failure', async () => {
  const body = JSON.stringify({ code: 40404, msg: 'gone', data: null, request_id: 'r' });
  const read = () => rest.request('GET /api/v1/files/{file_id}', { path: { file_id: 'f' } });
  raw = { headers: { ...JSON_TYPE, 'accept-ranges': 'bytes' }, body };
  expect(await (await read()).text()).toBe(body);
  raw = { headers: JSON_TYPE, body };
  await expect(read()).rejects.toMatchObject({ code: 40404 });
});

it('returns the documents of the API, which have no envelope', async () => {
  raw = { headers: JSON_TYPE, body: '{"openapi":"3.1.0"}' };
  expect(await rest.request('GET /openapi.json')).toEqual({ openapi: '3.1.0' });
  await expect(rest.meta()).rejects.toThrow(ConnectionError);
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
  await expect(rest.request('GET /api/v1/files/{file_id}', { path: { file_id: 'f' } })).rejects.toMatchObject({ code });
});
