/** A client that stops reading during many events: bounded memory, one notice, no delay of others. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import * as z from 'zod';
import { event } from '#server/journal/records.ts';
import { usedBytes } from '#support/used-memory.ts';
import { startWorld, type World } from '#support/world.ts';
import { connect } from '#support/ws-client.ts';

/** A full batch of a connection, which is written immediately. */
const BURST = 64;
const EVENTS = 160 * BURST;
const TEXT = 'x'.repeat(4000);
/** A connection's limit (8 MiB queued and 1 MiB unsent), plus as much for the socket buffers. */
const MEMORY_BYTES = 20 * 1024 * 1024;

let world: World;
const close: (() => unknown)[] = [];
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  for (const each of close) await each();
  await world.close();
});

/** A subscriber that stores only the last number and whether all arrived in order. */
async function countingReader(sessionId: string) {
  const { url, token } = world.server;
  const socket = new WebSocket(url.replace('http', 'ws') + '/api/v1/ws', {
    headers: { authorization: `Bearer ${token}` },
  });
  close.push(() => socket.terminate());
  const seen = { last: 0, inOrder: true };
  let check = () => {};
  const subscribed = new Promise<void>((resolve) => {
    socket.on('message', (data: Buffer) => {
      const text = data.toString();
      if (text.startsWith('{"type":"server_hello"')) {
        socket.send(JSON.stringify({ type: 'subscribe', id: 1, payload: { session_ids: [sessionId] } }));
      } else if (text.startsWith('{"type":"ack"')) resolve();
      else {
        const seq = Number(/"seq":(\d+)/.exec(text)?.[1]);
        if (seen.last !== 0 && seq !== seen.last + 1) seen.inOrder = false;
        seen.last = seq;
        check();
      }
    });
  });
  await subscribed;
  return {
    seen,
    until: (seq: number) =>
      new Promise<void>((resolve) => {
        check = () => seen.last >= seq && resolve();
        check();
      }),
  };
}

test('receives the buffered frames, one resync_required, and later events', async () => {
  const { id } = await world.session();
  const slow = await connect(world.server);
  close.push(() => {
    slow.resume();
    return slow.close();
  });
  await slow.send({ type: 'subscribe', payload: { session_ids: [id] } });
  const fast = await countingReader(id);
  const log = await world.server.app.sessions.use(id, (session) => session.log);
  await log.claim();
  const start = log.position().seq;

  slow.pause();
  const before = usedBytes();
  for (let count = 0; count < EVENTS; count += BURST) {
    for (let one = 0; one < BURST; one += 1) log.append([event('main', 'warning', { message: TEXT })]);
    // The other reader keeps up with publishing, regardless of the slow one.
    await fast.until(log.position().seq);
  }
  expect(fast.seen).toEqual({ last: start + EVENTS, inOrder: true });
  // Freed memory is reported with a delay.
  await expect.poll(() => usedBytes() - before).toBeLessThan(MEMORY_BYTES);

  slow.resume();
  const notice = await slow.waitFor(({ type }) => type === 'resync_required');
  expect(notice.payload).toMatchObject({ session_id: id, reason: 'buffer_overflow' });
  const watermark = z.number().parse(notice.payload['current_seq']);
  await slow.waitFor(({ seq }) => seq === start + EVENTS);
  log.append([event('main', 'warning', { message: 'after it' })]);
  await slow.waitFor(({ seq }) => seq === start + EVENTS + 1);
  expect(slow.frames.filter(({ type }) => type === 'resync_required')).toHaveLength(1);

  const place = slow.frames.indexOf(notice);
  const numbers = (from: number, to?: number) =>
    slow.frames.slice(from, to).flatMap(({ session_id, seq }) => (session_id === id ? [seq] : []));
  const early = numbers(0, place);
  expect(early).toEqual(Array.from({ length: early.length }, (_, n) => start + 1 + n));
  expect(early.length).toBeLessThan(EVENTS / 2);
  const late = numbers(place);
  expect(late).toEqual(Array.from({ length: late.length }, (_, n) => watermark + 1 + n));

  // The missed events can be replayed.
  const from = slow.frames.length;
  await slow.send({ type: 'subscribe', payload: { session_ids: [id], cursors: { [id]: { seq: watermark - 10 } } } });
  expect(numbers(from)[0]).toBe(watermark - 9);
});
