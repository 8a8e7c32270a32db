/** Files as replies: ranges, conditional requests, HEAD, and files or clients that change during the transfer. */
import { once } from 'node:events';
import { open, rm, truncate, writeFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ServiceError } from '#server/errors/service-error.ts';
import { defineRawEndpoint } from '#utils/endpoint.ts';
import { contentDisposition } from '#utils/http/content-disposition.ts';
import { sendFile } from '#utils/http/send-file.ts';
import { eventually } from '#support/patience.ts';
import { startServer } from '#support/server.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';
import type { TestServer } from '#support/server.ts';
import type { Endpoint } from '#utils/endpoint-definition.ts';

let server: TestServer;
let folder: string;
let path: string;
let handle: FileHandle | undefined;
/** Larger than the socket buffers of both sides. */
const LARGE = 64 * 1024 * 1024;
/** The announced size; default: the file's. */
let announced: number | undefined;
let failure: Error | undefined;

function sender(conditional: boolean): Endpoint {
  return defineRawEndpoint({
    summary: 'Sends a file',
    raw: { contentType: 'application/octet-stream', statuses: [200, 206, 304] },
    errors: ['file.not_found'],
    failureStatuses: { 'file.not_found': 404, 'internal.error': 500 },
    async handler({ event }) {
      if (failure) throw failure;
      const file = await open(path, 'r');
      handle = file;
      const { size, mtime } = await file.stat();
      const disposition = contentDisposition('attachment', 'a.txt');
      const sent = { file, size: announced ?? size, etag: 'a-1', contentType: 'text/plain', disposition };
      return sendFile(event.node.req, { ...sent, ...(conditional ? { lastModified: mtime } : {}) }, { conditional });
    },
  });
}

beforeAll(async () => {
  const routes = { '/api/v1/plain': sender(false), '/api/v1/conditional': sender(true) };
  const entries = Object.entries(routes).map(([route, endpoint]) => {
    return { method: 'get', route, load: () => Promise.resolve({ default: endpoint }) };
  });
  server = await startServer({ endpoints: entries });
  folder = await temporaryDirectory();
  path = join(folder, 'a.txt');
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

const get = (route: string, headers: Record<string, string> = {}, method = 'GET') =>
  server.fetch(`/api/v1/${route}`, { headers, method });
const closed = () => eventually(() => expect(handle?.fd).toBe(-1));

/** Asserts the headers that prevent scripts and embedding by other origins. */
function expectFilePolicy({ headers }: Response): void {
  expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
  expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
}

it('sends the whole file, and ranges of it', async () => {
  await writeFile(path, '0123456789');
  const whole = await get('plain');
  expect(whole.status).toBe(200);
  expect(await whole.text()).toBe('0123456789');
  expect(Object.fromEntries(whole.headers)).toMatchObject({
    'accept-ranges': 'bytes',
    'content-type': 'text/plain',
    'content-length': '10',
    'x-content-type-options': 'nosniff',
    'content-disposition': 'attachment; filename="a.txt"',
    etag: '"a-1"',
  });
  expect(whole.headers.has('content-range')).toBe(false);
  expectFilePolicy(whole);

  const part = await get('plain', { range: 'bytes=-4' });
  expect(part.status).toBe(206);
  expect(await part.text()).toBe('6789');
  expect(part.headers.get('content-range')).toBe('bytes 6-9/10');
  expect(part.headers.get('content-length')).toBe('4');
  expectFilePolicy(part);

  const past = await get('plain', { range: 'bytes=999-' });
  expect([past.status, await past.text()]).toEqual([200, '0123456789']);
  await closed();
});

it('honours If-Range', async () => {
  await writeFile(path, '0123456789');
  const same = await get('plain', { range: 'bytes=0-1', 'if-range': '"a-1"' });
  expect([same.status, await same.text()]).toEqual([206, '01']);
  const other = await get('plain', { range: 'bytes=0-1', 'if-range': '"b-1"' });
  expect([other.status, await other.text()]).toEqual([200, '0123456789']);
});

it('answers 304 before it checks ranges, where the endpoint supports it', async () => {
  await writeFile(path, '0123456789');
  for (const tag of ['"a-1"', 'a-1', 'W/"a-1"', '"b", "a-1"', '*']) {
    const answer = await get('conditional', { 'if-none-match': tag, range: 'bytes=0-1' });
    expect([answer.status, answer.headers.get('etag'), await answer.text()]).toEqual([304, '"a-1"', '']);
    expectFilePolicy(answer);
    await closed();
  }
  const changed = await get('conditional', { 'if-none-match': '"b"' });
  expect(changed.status).toBe(200);
  expect(changed.headers.get('last-modified')).toMatch(/GMT$/);
  expect((await get('plain', { 'if-none-match': '"a-1"' })).status).toBe(200);
});

it('answers HEAD with the headers only', async () => {
  await writeFile(path, '0123456789');
  const head = await get('plain', { range: 'bytes=2-3' }, 'HEAD');
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([206, '2', '']);
  expectFilePolicy(head);
  await closed();
});

it('sends an empty file', async () => {
  await writeFile(path, '');
  const answer = await get('plain', { range: 'bytes=0-' });
  expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([200, '0', '']);
  await closed();
});

it('breaks the connection when the file is shorter than announced', async () => {
  await writeFile(path, '0123456789');
  announced = 11;
  await expect(get('plain').then((answer) => answer.text())).rejects.toThrow(/terminated|fetch failed/);
  announced = undefined;
  await closed();

  await writeFile(path, Buffer.alloc(LARGE));
  const answer = await get('plain');
  await truncate(path, 1000);
  await expect(answer.arrayBuffer()).rejects.toThrow(/terminated|fetch failed/);
  await closed();
});

it('sends only the announced bytes of a file that grew', async () => {
  await writeFile(path, '0123456789');
  announced = 4;
  expect(await (await get('plain')).text()).toBe('0123');
  announced = undefined;
});

it('stops reading when the client disconnects', async () => {
  await writeFile(path, Buffer.alloc(LARGE));
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  socket.write(`GET /api/v1/plain HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${server.token}\r\n\r\n`);
  await once(socket, 'data');
  socket.pause();
  expect(handle?.fd).toBeGreaterThan(0);
  socket.destroy();
  await closed();
});

it('answers failures with the statuses that the endpoint declares', async () => {
  failure = new ServiceError('file.not_found', 'file not found');
  const missing = await server.api('GET', '/plain');
  expect([missing.status, missing.code, missing.msg]).toEqual([404, 40407, 'file not found']);
  failure = new Error('the disk is on fire');
  const broken = await server.api('GET', '/plain');
  expect([broken.status, broken.code]).toEqual([500, 50001]);
  failure = undefined;
});
