import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
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

/** A certificate that the first one has signed. */
function sign(name: string, issuer: string): void {
  const file = (suffix: string) => join(folder, `${name}.${suffix}`);
  const request = ['req', '-newkey', 'rsa:2048', '-nodes', '-keyout', file('key'), '-out', file('csr')];
  execFileSync('openssl', [...request, '-subj', '/CN=other.test'], { stdio: 'ignore' });
  const by = ['-CA', certificate(issuer), '-CAkey', join(folder, `${issuer}.key`), '-CAcreateserial'];
  const signed = ['x509', '-req', '-in', file('csr'), ...by, '-out', certificate(name), '-days', '2'];
  execFileSync('openssl', signed, { stdio: 'ignore' });
}

async function serve(name: string): Promise<{ secure: Server; at: string }> {
  const [key, cert] = [await readFile(join(folder, `${name}.key`)), await readFile(certificate(name))];
  const secure = createServer({ key, cert }, (request, response) => {
    request.pipe(response);
  });
  secure.listen(0, '127.0.0.1');
  await once(secure, 'listening');
  const address = secure.address();
  return { secure, at: `https://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/` };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'service-code-'));
  for (const name of ['own', 'other']) create(name);
  const { secure, at } = await serve('own');
  new WebSocketServer({ server: secure }).on('connection', (socket) => socket.send('hello'));
  server = secure;
  url = at;
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

it('trusts no certificate that the one of the file has signed', async () => {
  sign('signed', 'own');
  const { secure, at } = await serve('signed');
  onTestFinished(() => {
    secure.closeAllConnections();
    secure.close();
  });
  const { fetch } = await transportOf({ certificate: certificate('own') });
  await expect(fetch(at)).rejects.toMatchObject({ cause: { message: 'the server has another certificate' } });
});

it('names a certificate that cannot be read', async () => {
  await expect(transportOf({ certificate: certificate('missing') })).rejects.toThrow(
    /^cannot use the certificate .*missing\.pem/,
  );
});
