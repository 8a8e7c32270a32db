/** Scheduled jobs over REST: their turns, and the sessions that stay loaded for them. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, test, vi } from 'vitest';
import { z } from 'zod';
import { transcriptPageSchema, userMessagesSchema } from '#schema/transcript.ts';
import { manualClock, type ManualClock } from '#support/manual-clock.ts';
import { call, resumeTalk, startTalk, wireText, wireMessages, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = new Date(2026, 0, 5, 10, 0, 30).getTime();

let clock: ManualClock;
let world: World;
beforeAll(async () => {
  clock = manualClock(START);
  world = await startWorld({ clock, config: { cron: { no_jitter: true }, default_permission_mode: 'yolo' } });
});
afterAll(() => world.close());

/** A session with a job that comes at this minute of each hour. */
async function scheduled(minute: number, args: object = {}): Promise<Talk> {
  const talk = await startTalk(world);
  const job = { cron: `${minute} * * * *`, prompt: 'Look at the build', ...args };
  await talk.turn('Look at it', [{ calls: [call('CronCreate', job)] }, { text: 'I will.' }]);
  return talk;
}

/** The clock shows this minute of the next hour. */
function goTo(minute: number): void {
  const now = new Date(clock.now());
  clock.advance(new Date(clock.now()).setHours(now.getHours() + 1, minute, 0, 0) - clock.now());
}

const rows = () => world.server.app.sessions;
const isLoaded = ({ session }: Talk) => rows().liveRow(session.id) !== undefined;
const deleteAll = async (talk: Talk) => {
  const ids = talk.all('tool.result').flatMap(({ payload }) => {
    const id = /^\{"id":"([0-9A-Z]{26})"/.exec(String(payload['output']))?.[1];
    return id ?? [];
  });
  const calls = ids.map((id) => call('CronDelete', { id }));
  await talk.turn('Forget it', [{ calls }, { text: 'Done.' }]);
};

test('the turn of a job shows its prompt and its origin in the transcript, to all who read', async () => {
  const talk = await scheduled(5);
  world.model.enqueue({ text: 'Green.' });
  goTo(5);
  await talk.nth('turn.ended', 2);
  const page = async () =>
    transcriptPageSchema.parse(await world.ok('GET', `${talk.path}/transcript?agent_id=main`)).items;
  const items = await page();
  const [fired] = talk.all('cron.fired');
  const { origin } = z.object({ origin: z.looseObject({ jobId: z.string() }) }).parse(fired?.payload);
  expect(items).toMatchObject([
    { kind: 'turn', turnId: 't0', origin: { kind: 'user' } },
    {
      kind: 'turn',
      turnId: 't1',
      prompt: 'Look at the build',
      origin: { kind: 'cron', taskId: origin.jobId, payload: origin },
    },
    { kind: 'marker', marker: 'cron.fired', payload: { agentId: 'main', origin, prompt: 'Look at the build' } },
  ]);
  const messages = await world.ok('GET', `${talk.path}/transcript/user-messages`);
  expect(userMessagesSchema.parse(messages).agents[0]?.messages).toMatchObject([
    { prompt: 'Look at it' },
    { turn_id: 't1', prompt: 'Look at the build', state: 'completed', origin: { kind: 'cron' } },
  ]);
  expect(wireText(wireMessages(world, -1).at(-1) ?? { role: '' })).toContain('<prompt>\nLook at the build\n</prompt>');
  // A list tells of what the user wrote.
  expect(await world.ok('GET', talk.path)).toMatchObject({ last_prompt: 'Look at it', last_turn_reason: 'completed' });
  await deleteAll(talk);
  await rows().archive(talk.session.id);
  await world.ok('POST', `${talk.path}:restore`, {});
  expect((await page()).slice(0, 3)).toEqual(items);
});
