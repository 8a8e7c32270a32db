/** Transcripts next to a client that does not read: the others are not delayed, and it recovers. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { followTranscripts } from '#support/transcript-follower.ts';
import { agentConfig, shortTurn } from '#support/transcript-turns.ts';
import { canonical } from '#support/transcripts.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ mayStall: 'a reply of 6 MB: what the slow client has missed' });
});
afterAll(() => world.close());

it('disconnects the stream of a client that does not read, delays no other, and lets it recover', async () => {
  const { id } = await world.session();
  const log = await world.server.app.sessions.use(id, (session) => session.log);
  await log.claim();
  log.append(agentConfig());
  shortTurn(log, 0);
  const [slow, fast] = [await followTranscripts(world, id, 100), await followTranscripts(world, id)];
  await slow.feed.follow({ '*': 'delta' });
  await fast.feed.follow({ '*': 'delta' });
  slow.client.pause();
  const text = 'x'.repeat(12_000);
  for (let turn = 1; turn <= 400; turn += 1) {
    shortTurn(log, turn, text);
    // The other reader keeps up, regardless of the slow one.
    if (turn % 20 === 0) await fast.caughtUp();
  }
  slow.client.resume();
  const notice = await slow.client.waitFor(({ type }) => type === 'resync_required');
  expect(notice.payload).toMatchObject({ session_id: id, reason: 'buffer_overflow' });
  shortTurn(log, 401);
  await slow.caughtUp();
  await fast.caughtUp();
  const states = [slow, fast].map(({ feed }) => feed.state('main') ?? expect.fail('nothing is known'));
  expect(states[0]?.items).toHaveLength(402);
  const [one, other] = states.map(canonical);
  expect(one).toEqual(other);
  await slow.close();
  await fast.close();
});
