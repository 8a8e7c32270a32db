/**
 * A clock set back by an hour during a turn: timestamps never fall, timers never fire early, durations are positive.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { systemClock } from '#server/clock.ts';
import { sessionFolder } from '#support/session-folder.ts';
import { callThenText, startTalk } from '#support/talk.ts';
import { pageOf } from '#support/transcript-follower.ts';
import { startWorld, type World } from '#support/world.ts';

const HOUR = 3_600_000;
let world: World;
let back = 0;
beforeAll(async () => {
  world = await startWorld({
    clock: { now: () => Date.now() - back, setTimeout: systemClock.setTimeout },
  });
});
afterAll(() => world.close());

const line = z.object({ t: z.number() });

it('does not disturb the running turn', async () => {
  const talk = await startTalk(world);
  const { prompt_id } = await talk.prompt('Go on', [
    ...callThenText('Bash', { command: 'echo one' }).slice(0, 1),
    ...callThenText('Bash', { command: 'echo two' }),
  ]);
  const asked = await talk.approval(1);
  back = HOUR;
  // The approval is still pending and keeps its whole lifetime.
  expect(await world.approvals(talk.session.id)).toMatchObject([{ approval_id: asked.approval_id }]);
  await talk.answer(asked.approval_id, { decision: 'approved' });
  await talk.answer((await talk.approval(2)).approval_id, { decision: 'approved' });
  await talk.settled(prompt_id);

  const [ended] = talk.all('turn.ended');
  expect(ended?.payload).toMatchObject({ reason: 'completed' });
  expect(z.number().parse(ended?.payload['durationMs'])).toBeGreaterThanOrEqual(0);
  const { workspace_id, id } = talk.session;
  const journal = await readFile(
    join(sessionFolder(world.server.home, { workspace_id, id }), 'journal.ndjson'),
    'utf8',
  );
  const times = journal
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((text) => line.parse(JSON.parse(text)).t);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  const stamps = talk.events.durable(id).map(({ timestamp = '' }) => timestamp);
  expect(stamps).toEqual(stamps.toSorted());
  const { items } = await pageOf(world, id);
  for (const item of items) {
    if (item.kind !== 'turn') continue;
    for (const { startedAt = '', endedAt = '' } of [item, ...item.steps]) expect(endedAt >= startedAt).toBe(true);
  }

  // Transcript numbers do not decrease either, also after reloading the session.
  const { seq = 0 } = await pageOf(world, id);
  await world.ok('POST', `/sessions/${id}:archive`);
  await world.restart();
  back = 2 * HOUR;
  await world.ok('POST', `/sessions/${id}:restore`);
  expect((await pageOf(world, id)).seq).toBeGreaterThanOrEqual(seq);
});
