/** Terminals that write more than their viewers read. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { event } from '#server/journal/records.ts';
import { PATIENCE_MS } from '#support/patience.ts';
import { openTerminal, readTerminal, viewTerminal } from '#support/terminals.ts';
import { usedBytes } from '#support/used-memory.ts';
import { startWorld, type World } from '#support/world.ts';
import { connect, type WsClient } from '#support/ws-client.ts';
import type { Terminal } from '#schema/rest/terminal.ts';

const MIB = 1024 * 1024;
/** More than the sockets and the queue of one connection can hold. */
const FULL_BYTES = 24 * MIB;
/** Limit of a terminal's share of the queue, its replay buffer, the unsent bytes, and those in flight. */
const MEMORY_BYTES = 32 * MIB;

let world: World;
let sessionId: string;
beforeAll(async () => {
  world = await startWorld();
  ({ id: sessionId } = await world.session());
});
afterAll(() => world.close());

/** Counts, within the server, the bytes that are sent to viewers from now on. */
function countSent({ session_id, id }: Terminal): () => number {
  let bytes = 0;
  const terminal = world.server.app.terminals.find(session_id, id);
  terminal?.attach({ id: 'counter', send: (_lane, frame) => void (bytes += frame.length) }, Number.MAX_SAFE_INTEGER);
  return () => bytes;
}

const silently = (client: WsClient, type: string, payload: object) =>
  client.sendRaw(JSON.stringify({ type: `terminal_${type}`, payload }));

test('Ctrl-C reaches a program whose viewer does not read', async () => {
  const terminal = await openTerminal(world, sessionId);
  const viewer = await connect(world.server);
  const viewed = viewTerminal(viewer, terminal);
  await viewed.send('attach');
  viewer.pause();
  const sent = countSent(terminal);
  const ids = { session_id: sessionId, terminal_id: terminal.id };
  silently(viewer, 'input', { ...ids, data: `sh -c 'trap "echo over > ended; exit" INT; yes'\n` });
  await expect.poll(sent).toBeGreaterThan(FULL_BYTES);

  silently(viewer, 'input', { ...ids, data: '\u0003' });
  const ended = () => readFile(join(world.project, 'ended'), 'utf8').catch(() => '');
  await expect.poll(ended, { interval: 5 }).toBe('over\n');

  viewer.resume();
  await viewed.until(/\^C/);
  await viewer.close();
});

test('100 MB to a viewer that does not read: bounded memory, complete session events, no delay for others', async () => {
  const { id: busy } = await world.session();
  const terminal = await openTerminal(world, sessionId);
  const slow = await connect(world.server);
  const viewed = viewTerminal(slow, terminal);
  await viewed.send('attach');
  await slow.send({ type: 'subscribe', payload: { session_ids: [busy] } });
  const other = await connect(world.server);
  const echoing = viewTerminal(other, await openTerminal(world, sessionId));
  await echoing.send('attach');
  const log = await world.server.app.sessions.use(busy, (session) => session.log);
  await log.claim();

  slow.pause();
  const before = usedBytes();
  const sent = countSent(terminal);
  const ids = { session_id: sessionId, terminal_id: terminal.id };
  silently(slow, 'input', { ...ids, data: `exec sh -c 'head -c 100000000 /dev/zero | tr "\\0" a'\n` });
  await expect.poll(sent).toBeGreaterThan(FULL_BYTES);
  for (let count = 1; count <= 20; count += 1) {
    log.append([event('main', 'warning', { message: `warning ${count}` })]);
    const asked = performance.now();
    await echoing.send('input', { data: `echo n$((${count}))n\n` });
    await echoing.until(new RegExp(`n${count}n`));
    expect(performance.now() - asked).toBeLessThan(10_000);
  }
  await expect.poll(() => readTerminal(world, terminal), { timeout: 2 * PATIENCE_MS }).toMatchObject({ exit_code: 0 });
  await expect.poll(() => usedBytes() - before).toBeLessThan(MEMORY_BYTES);

  slow.resume();
  await viewed.exit();
  // The gap is visible in the numbers, and the replay buffer fills a part of it.
  const seqs = viewed.frames().flatMap(({ seq }) => seq ?? []);
  expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
  const last = seqs.at(-1) ?? 0;
  expect(seqs.length).toBeLessThan(last);
  const warnings = slow.frames.filter(({ type }) => type === 'warning');
  expect(warnings).toHaveLength(20);
  expect(slow.frames.map(({ type }) => type)).not.toContain('resync_required');
  const from = viewed.frames().length;
  await viewed.send('attach', { since_seq: 0 });
  const replayed = viewed
    .frames()
    .slice(from)
    .flatMap(({ seq }) => seq ?? []);
  expect(replayed[0]).toBeGreaterThan(1);
  expect(replayed.at(-1)).toBe(last);
  expect(replayed).toEqual(replayed.map((_, n) => (replayed[0] ?? 0) + n));
  for (const client of [slow, other]) await client.close();
});
