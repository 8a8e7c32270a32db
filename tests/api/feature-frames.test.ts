/** A request frame of a feature: available on every connection, handled by the feature's part of a session. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import type { Feature, LiveFeature } from '#server/agent/contract/feature.ts';
import { defineFrame } from '#server/events/frame-handler.ts';
import { startWorld, type World } from '#support/world.ts';
import { connect, type WsClient } from '#support/ws-client.ts';

const viewFrame = {
  type: 'test_view',
  summary: 'Looks at a session.',
  payload: z.object({ session_id: z.string() }),
  ack: z.object({ viewers: z.number() }),
} as const;

interface Viewed extends LiveFeature {
  readonly viewers: Set<string>;
}

/** Counts the connected viewers of a session. */
const viewing: Feature<Viewed> = {
  name: 'viewing',
  open: () => ({ viewers: new Set() }),
  frames: (use) => [
    defineFrame(viewFrame, {
      handle: ({ session_id }, client) =>
        use(session_id, (session) => {
          const { viewers } = session.feature(viewing);
          viewers.add(client.id);
          client.onClose(() => viewers.delete(client.id));
          return { viewers: viewers.size };
        }),
    }),
  ],
};

let world: World;
beforeAll(async () => {
  world = await startWorld({ features: [viewing] });
});
afterAll(() => world.close());

/** Sent raw: a test's frame is in no document against which the answer could be checked. */
function view(client: WsClient, id: string, payload: unknown) {
  client.sendRaw(JSON.stringify({ type: 'test_view', id, payload }));
  return client.waitFor((frame) => frame.type === 'ack' && frame.id === id);
}

test('a frame of a feature is validated and answered, and its state is released when the connection closes', async () => {
  const { id: session_id } = await world.session();
  const [first, second] = [await connect(world.server), await connect(world.server)];
  expect(await view(first, 'a', { session_id })).toMatchObject({ code: 0, payload: { viewers: 1 } });
  expect(await view(second, 'b', { session_id })).toMatchObject({ code: 0, payload: { viewers: 2 } });
  expect(await view(first, 'c', {})).toMatchObject({ code: 40001 });
  expect(await view(first, 'd', { session_id: 'session_none' })).toMatchObject({ code: 40401 });
  await first.close();
  const viewers = () =>
    world.server.app.sessions.use(session_id, ({ context }) => context.feature(viewing).viewers.size);
  await expect.poll(viewers).toBe(1);
  await second.close();
  await expect.poll(viewers).toBe(0);
});
