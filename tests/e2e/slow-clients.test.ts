/** Clients of the built server that send without reading, or do not read at all: bounded memory, and a timely stop. */
import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import * as z from 'zod';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';
import { connect } from '#support/ws-client.ts';

const FRAMES = 100_000;
const WARM_UP_FRAMES = 2_000;
const GROWTH_BYTES = 96 * 1024 * 1024;

let server: SpawnedServer;
beforeEach(async () => {
  server = await spawnServer();
});
afterEach(() => server.close());

/** Resident memory of the server's process. */
async function residentBytes(): Promise<number> {
  const status = await readFile(`/proc/${server.process.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** Loads what any server holds after some time: the index, compiled code. */
async function warmUp(): Promise<void> {
  await server.api('GET', '/sessions');
  const client = await connect(server);
  for (let n = 0; n < WARM_UP_FRAMES; n += 1) {
    await client.send({ type: 'subscribe', payload: { session_ids: [`unknown-${n}`] } });
  }
  await client.close();
}

/** A connection that stops reading after its hello. */
async function deafClient(): Promise<WebSocket> {
  const headers = { authorization: `Bearer ${server.token}` };
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/v1/ws`, { headers });
  await new Promise((resolve) => socket.once('message', resolve));
  socket.pause();
  return socket;
}

test(`${FRAMES} frames are acked in order to a client that reads no acks at first`, async () => {
  await warmUp();
  const before = await residentBytes();
  const client = await deafClient();
  for (let id = 1; id <= FRAMES; id += 1) {
    client.send(
      JSON.stringify({ type: 'subscribe', id, payload: { session_ids: [`unknown-${id}-${'x'.repeat(100)}`] } }),
    );
  }
  // Backpressure: the server has stopped reading, so its memory is bounded and other frames wait in the client.
  const peak = { bytes: 0 };
  const waiting = async () => {
    const last = client.bufferedAmount;
    peak.bytes = Math.max(peak.bytes, await residentBytes());
    const other = await connect(server);
    await other.send({ type: 'client_hello' });
    await other.close();
    return client.bufferedAmount === last && last > 0;
  };
  await expect.poll(waiting).toBe(true);
  expect(peak.bytes - before).toBeLessThan(GROWTH_BYTES);

  const acked = new Promise<number[]>((resolve) => {
    const ids: number[] = [];
    client.on('message', (data: Buffer) => {
      ids.push(z.object({ id: z.number() }).parse(JSON.parse(data.toString())).id);
      if (ids.length === FRAMES) resolve(ids);
    });
  });
  client.resume();
  expect(await acked).toEqual(Array.from({ length: FRAMES }, (_, n) => n + 1));
  expect((await residentBytes()) - before).toBeLessThan(GROWTH_BYTES);
  client.close();
});

test('a stop does not wait for a client that does not read', async () => {
  const client = await deafClient();
  expect(await server.stop('SIGTERM')).toBe(0);
  client.terminate();
});
