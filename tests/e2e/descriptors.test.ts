/** A built server with few file descriptors, and clients that open connections and send nothing. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import * as z from 'zod';
import { rawRequest } from '#support/raw-request.ts';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';
import { tlsRequest } from '#support/tls-request.ts';

const envelope = z.object({ code: z.number(), data: z.unknown() });
const withId = z.object({ id: z.string() });

let server: SpawnedServer;
const idle: Socket[] = [];
afterEach(async () => {
  for (const socket of idle.splice(0)) socket.destroy();
  await server.close();
});

/** Opens `count` connections that send nothing; those that the server closes stay in the list. */
async function openIdle(count: number): Promise<void> {
  const { hostname, port } = new URL(server.url);
  for (let opened = 0; opened < count; opened += 1) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined).resume();
    idle.push(socket);
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  }
}

/** Requests of a new client, each over a new connection. */
const bearer = () => ({ authorization: `Bearer ${server.token}` });
async function codes(): Promise<unknown[]> {
  const created = { method: 'POST', path: '/api/v1/sessions', body: '{"metadata":{"cwd":"/tmp"}}' };
  const answers = [
    await rawRequest(server.url, { path: '/api/v1/meta', headers: bearer() }),
    await rawRequest(server.url, { ...created, headers: { ...bearer(), 'content-type': 'application/json' } }),
    await rawRequest(server.url, { path: '/api/v1/config', headers: bearer() }),
  ];
  return answers.map(({ text }) => JSON.parse(text).code);
}

it('with 90 descriptors and 200 idle sockets answers a new client', async () => {
  server = await spawnServer({ descriptors: 90 });
  await openIdle(200);
  for (let round = 0; round < 3; round += 1) expect(await codes()).toEqual([0, 0, 0]);
});

it('with 200 descriptors and 230 idle sockets runs a turn, copies the session and reads both', async () => {
  server = await spawnServer({ descriptors: 200, args: ['--demo'] });
  await openIdle(230);
  const send = async (method: string, path: string, body?: object) => {
    const headers = { ...bearer(), 'content-type': 'application/json' };
    const request = { method, path: `/api/v1/sessions${path}`, headers, body: body && JSON.stringify(body) };
    const { code, data } = envelope.parse(JSON.parse((await rawRequest(server.url, request)).text));
    expect([path, code]).toEqual([path, 0]);
    return data;
  };
  const { id } = withId.parse(await send('POST', '', { metadata: { cwd: '/tmp' } }));
  await send('POST', `/${id}/prompts`, { content: [{ type: 'text', text: 'Hello' }] });
  await expect.poll(() => send('GET', `/${id}`)).toMatchObject({ busy: false, last_turn_reason: 'completed' });
  const copy = withId.parse(await send('POST', `/${id}:fork`, {}));
  for (const each of [id, copy.id]) {
    await send('GET', `/${each}/snapshot`);
    expect(JSON.stringify(await send('GET', `/${each}/messages`))).toContain('Hello');
  }
  // After all idle sockets are closed it continues as before.
  for (const socket of idle.splice(0)) socket.destroy();
  await send('POST', `/${copy.id}/prompts`, { content: [{ type: 'text', text: 'Again' }] });
});

it('keeps 150 WebSockets open, regardless of new idle sockets', async () => {
  server = await spawnServer({ descriptors: 400 });
  const sockets = Array.from({ length: 150 }, () => new WebSocket(`${server.url}/api/v1/ws`, { headers: bearer() }));
  await Promise.all(sockets.map((socket) => once(socket, 'open')));
  await openIdle(200);
  for (const socket of sockets) {
    socket.ping();
    await once(socket, 'pong');
  }
  expect(await codes()).toEqual([0, 0, 0]);
  for (const socket of sockets) socket.terminate();
});

describe('with TLS', () => {
  const options = { rejectUnauthorized: false };

  /** Opens connections that complete their handshake and send nothing. */
  async function openSecured(count: number): Promise<void> {
    const { hostname, port } = new URL(server.url);
    for (let opened = 0; opened < count; opened += 1) {
      const socket = connectTls({ ...options, host: hostname, port: Number(port) });
      socket.on('error', () => undefined).resume();
      idle.push(socket);
      await Promise.race([once(socket, 'secureConnect'), once(socket, 'close')]);
    }
  }

  it('idle sockets are replaced, with and without a handshake; WebSockets and a connection with the token stay', async () => {
    server = await spawnServer({ descriptors: 400, args: ['--https'] });
    const url = `${server.url.replace('https', 'wss')}/api/v1/ws`;
    const sockets = Array.from({ length: 50 }, () => new WebSocket(url, { ...options, headers: bearer() }));
    await Promise.all(sockets.map((socket) => once(socket, 'open')));
    const agent = new Agent({ ...options, keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const ask = async () => {
      const sent = request(`${server.url}/api/v1/meta`, { agent, headers: bearer() }).end();
      const [answer] = z.tuple([z.custom<IncomingMessage>()]).parse(await once(sent, 'response'));
      await once(answer.resume(), 'end');
      return { status: answer.statusCode, reused: sent.reusedSocket };
    };
    expect(await ask()).toEqual({ status: 200, reused: false });

    await openSecured(220);
    await openIdle(220);
    await expect.poll(() => idle.filter((socket) => socket.closed).length).toBeGreaterThan(200);
    const meta = `${server.url}/api/v1/meta`;
    expect((await tlsRequest(meta, { ...options, headers: bearer() })).status).toBe(200);
    expect(await ask()).toEqual({ status: 200, reused: true });
    for (const socket of sockets) {
      socket.ping();
      await once(socket, 'pong');
    }
    for (const socket of sockets) socket.terminate();
  });
});
