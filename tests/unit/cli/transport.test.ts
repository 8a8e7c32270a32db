import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { transportOf } from '#server/cli/transport.ts';

let folder: string;
let server: Server;
let url: string;
const certificate = (name: string) => join(folder, `${name}.pem`);

/** A certificate of a name that is not the address of the server. */
function create(name: string): void {
  const files = ['-keyout', join(folder, `${name}.key`), '-out', certificate(name)];
  const subject = ['-subj', '/CN=box.test', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...files, ...subject], { stdio: 'ignore' });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'service-code-'));
  for (const name of ['own', 'other']) create(name);
  const [key, cert] = [await readFile(join(folder, 'own.key')), await readFile(certificate('own'))];
  server = createServer({ key, cert }, (request, response) => {
    request.pipe(response);
  });
  new WebSocketServer({ server }).on('connection', (socket) => socket.send('hello'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  url = `https://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true, force: true });
});

it('trusts the certificate of the file, for requests with forms and for sockets', async () => {
  const { fetch, WebSocket } = await transportOf({ certificate: certificate('own') });
  const body = new FormData();
  body.set('file', new Blob(['the content']), 'name.txt');
  expect(await (await fetch(new URL(url), { method: 'POST', body })).text()).toContain('the content');

  const socket = new WebSocket(url.replace('https', 'wss'), []);
  const message = await new Promise((resolve, reject) => {
    socket.addEventListener('message', ({ data }) => resolve(data));
    socket.addEventListener('error', () => reject(new Error('no connection')));
  });
  expect(message).toBe('hello');
  socket.close();
});

it('trusts no other certificate', async () => {
  const { fetch, WebSocket } = await transportOf({ certificate: certificate('other') });
  await expect(fetch(url)).rejects.toThrow('fetch failed');
  const socket = new WebSocket(url.replace('https', 'wss'), []);
  await new Promise((resolve) => socket.addEventListener('close', resolve));

  const { fetch: plain } = await transportOf({});
  await expect(plain(url)).rejects.toThrow('fetch failed');
});

it('names a certificate that cannot be read', async () => {
  await expect(transportOf({ certificate: certificate('missing') })).rejects.toThrow(
    /^cannot use the certificate .*missing\.pem/,
  );
});
