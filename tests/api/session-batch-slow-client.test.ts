/** A page that reads slowly while thousands of sessions are archived: its list is that of the server afterwards. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { deliveryTimes } from '#server/events/delivery-queue.ts';
import { event } from '#server/journal/records.ts';
import { workspaceIdOf } from '#server/workspaces/workspace-root.ts';
import { sessionBatchSchema } from '#schema/rest/session-batch.ts';
import { eventually } from '#support/patience.ts';
import { startWorld, type World } from '#support/world.ts';
import { createClient } from '@service-code/client';
import { createSessionLists } from '../../web/stores/session-lists.ts';
import { writeSession } from '../unit/sessions/index/index-fixtures.ts';

const SESSIONS = 3_000;
const LEFT = 20;
const ROOT = '/projects/one';
/** More than the buffers of a socket and a connection. */
const FILLING_BYTES = 24 * 1024 * 1024;
const TEXT = 'x'.repeat(64 * 1024);

let world: World;
const { stallMs } = deliveryTimes;
beforeAll(async () => {
  // On a busy machine the batch takes longer than a client may be silent.
  deliveryTimes.stallMs = 600_000;
  world = await startWorld({ mayStall: 'the session index is filled from thousands of folders' });
  await world.restart(async () => {
    // Filled again before the first list.
    await rm(join(world.server.home, 'cache'), { recursive: true, force: true });
    const workspaceId = workspaceIdOf(ROOT);
    for (let place = 0; place < SESSIONS + LEFT; place++) {
      const id = `session_${String(place).padStart(4, '0')}`;
      await writeSession(
        world.server.home,
        id,
        { workspaceId, cwd: ROOT, updatedAt: 1_700_000_000_000 + place },
        { workspaceId },
      );
    }
  });
});
afterAll(async () => {
  deliveryTimes.stallMs = stallMs;
  await world.close();
});

it(`${SESSIONS} archived sessions leave its list`, async () => {
  const { url, token } = world.server;
  const sockets: WebSocket[] = [];
  const client = createClient({
    baseUrl: `${url}/`,
    token: () => token,
    WebSocket: class extends WebSocket {
      constructor(address: string, protocols?: string[]) {
        super(address, protocols);
        sockets.push(this);
      }
    },
  });
  const errors: unknown[] = [];
  const lists = createSessionLists(client, (error) => errors.push(error));
  const resyncs: string[] = [];
  client.socket.on('resync_required', ({ payload }) => resyncs.push(payload.session_id));
  await eventually(() => expect(client.socket.connection.kind).toBe('open'));
  await lists.read();
  const shown = () => lists.list.value.sessions.map(({ id }) => id);
  expect(shown()).toHaveLength(50);

  // Another session fills the connection of the client, which does not read.
  const busy = await world.session();
  await client.socket.request('subscribe', { session_ids: [busy.id] });
  sockets[0]?.pause();
  const log = await world.server.app.sessions.use(busy.id, (session) => session.log);
  await log.claim();
  for (let bytes = 0; bytes < FILLING_BYTES; bytes += TEXT.length) {
    log.append([event('main', 'warning', { message: TEXT })]);
    await new Promise((resolve) => setImmediate(resolve));
  }
  // The newest ones, which the page shows, are archived, and older ones.
  const ids = Array.from(
    { length: SESSIONS },
    (_, place) => `session_${String(SESSIONS + LEFT - 1 - place).padStart(4, '0')}`,
  );
  const { data } = await world.api('POST', '/api/v2/sessions:archive', { ids });
  expect(sessionBatchSchema.parse(data)).toMatchObject({ succeeded: SESSIONS, failed: 0 });

  sockets[0]?.resume();
  await eventually(() => expect(resyncs).toContain('__global__'));
  expect(resyncs.filter((stream) => stream === '__global__')).toHaveLength(1);
  const left = await client.rest.sessions({ page_size: 50 });
  expect(left.items).toHaveLength(LEFT + 1);
  await eventually(() => expect(shown()).toEqual(left.items.map(({ id }) => id)));
  expect(lists.hasMore.value).toBe(false);
  expect(errors).toEqual([]);
  client.close();
});
