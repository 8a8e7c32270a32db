/** Scheduled jobs over REST: their turns, and keeping sessions loaded for them. */
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { sessionSchema } from '#schema/rest/session.ts';
import { transcriptPageSchema, userMessagesSchema } from '#schema/rest/transcript.ts';
import { manualClock, type ManualClock } from '#support/manual-clock.ts';
import { eventually } from '#support/patience.ts';
import { call, resumeTalk, startTalk, wireText, wireMessages, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

const MINUTE = 60_000;
const PROMPT = 'Look at the build';
const START = new Date(2026, 0, 5, 10, 0, 30).getTime();

let clock: ManualClock;
let world: World;
beforeAll(async () => {
  clock = manualClock(START);
  world = await startWorld({ clock, config: { cron: { no_jitter: true }, default_permission_mode: 'yolo' } });
});
afterAll(() => world.close());

/** A session with a job that fires at this minute of each hour. */
async function scheduled(minute: number): Promise<Talk> {
  const talk = await startTalk(world);
  const job = { cron: `${minute} * * * *`, prompt: PROMPT };
  await talk.turn('Look at it', [{ calls: [call('CronCreate', job)] }, { text: 'I will.' }]);
  return talk;
}

/** Advances the clock to this minute of the next hour. */
function goTo(minute: number): void {
  const now = new Date(clock.now());
  clock.advance(new Date(clock.now()).setHours(now.getHours() + 1, minute, 0, 0) - clock.now());
}

const isLoaded = ({ session }: Talk) => world.server.app.sessions.liveRow(session.id) !== undefined;

/** Deletes the jobs that the session's calls created, or those of the session that it was copied from. */
async function forget(talk: Talk, from = talk): Promise<void> {
  const made = from.all('tool.result').map(({ payload }) => String(payload['output']));
  const ids = made.flatMap((output) => /^\{"id":"([0-9A-Z]{26})"/.exec(output)?.[1] ?? []);
  const calls = ids.map((id) => call('CronDelete', { id }));
  await talk.turn('Forget it', [{ calls }, { text: 'Done.' }]);
}

test("the turn of a job has the job's prompt and origin in the transcript, live and cold", async () => {
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
  expect(wireMessages(world, -1).map(wireText).at(-1)).toContain('<prompt>\nLook at the build\n</prompt>');
  // A list entry contains the user's last prompt.
  expect(await world.ok('GET', talk.path)).toMatchObject({ last_prompt: 'Look at it', last_turn_reason: 'completed' });
  await world.ok('POST', `${talk.path}:archive`, {});
  expect(isLoaded(talk)).toBe(false);
  expect(await page()).toEqual(items);
});

test('the turn of a job can be cancelled, and an undo removes its message, not the job', async () => {
  const talk = await scheduled(10);
  const held = world.model.enqueue({ text: 'Green.', hold: true });
  goTo(10);
  await held.sent;
  expect(await world.api('POST', `${talk.path}:undo`, {})).toMatchObject({ code: 40901 });
  const queued = await world.prompt(talk.session.id, 'And now?');
  expect(queued.status).toBe('queued');
  world.model.enqueue({ text: 'Now this.' });
  await world.ok('POST', `${talk.path}:abort`, {});
  expect((await talk.nth('turn.ended', 2)).payload).toMatchObject({ reason: 'cancelled' });
  await talk.settled(queued.prompt_id);
  expect(await world.ok('POST', `${talk.path}:undo`, { count: 2 })).toMatchObject({ messages: { items: [] } });
  world.model.enqueue({ text: 'Green.' });
  goTo(10);
  await talk.nth('cron.fired', 2);
  await talk.nth('turn.ended', 4);
  await forget(talk);
});

test('a copy has the jobs too, and both sets fire', async () => {
  const talk = await scheduled(15);
  const { id } = sessionSchema.parse(await world.ok('POST', `${talk.path}:fork`, {}));
  const copy = await resumeTalk(world, sessionSchema.parse(await world.ok('GET', `/sessions/${id}`)));
  for (let n = 0; n < 2; n += 1) world.model.enqueue({ text: 'Green.' });
  goTo(15);
  for (const one of [talk, copy]) expect((await one.nth('cron.fired', 1)).payload).toMatchObject({ prompt: PROMPT });
  for (const one of [talk, copy]) await one.events.waitFor(({ type }) => type === 'turn.ended');
  await forget(talk);
  await forget(copy, talk);
});

test('a session with jobs stays loaded and is loaded by the next server, unless it is archived', async () => {
  const [kept, archived, over, bare] = [
    await scheduled(5),
    await scheduled(5),
    await scheduled(5),
    await startTalk(world),
  ];
  await forget(over);
  for (const talk of [kept, archived, over, bare]) await talk.events.close();
  clock.advance(31 * MINUTE);
  await eventually(() => {
    clock.advance(15_000);
    expect([over, bare].map(isLoaded)).toEqual([false, false]);
  });
  expect([kept, archived].map(isLoaded)).toEqual([true, true]);
  await world.ok('POST', `${archived.path}:archive`, {});
  await world.restart();
  expect(isLoaded(kept)).toBe(false);
  clock.advance(100);
  await eventually(() => expect(isLoaded(kept)).toBe(true));
  world.model.enqueue({ text: 'Green.' });
  goTo(5);
  // The reader arrives later: no client requested the load.
  const again = await resumeTalk(world, kept.session);
  await again.nth('turn.ended', 2);
  expect(again.all('cron.fired').at(-1)?.payload).toMatchObject({ prompt: PROMPT });
  expect([archived, over, bare].map(isLoaded)).toEqual([false, false, false]);
  await forget(again);
});

test('the first turn of a server waits for the SessionStart hooks', async () => {
  const talk = await scheduled(25);
  const [running, go] = [join(world.project, 'running'), join(world.project, 'go')];
  const command = `touch '${running}'; until [ -e '${go}' ]; do sleep 0.01; done`;
  await world.ok('POST', '/config', { hooks: [{ event: 'SessionStart', matcher: 'resume', command }] });
  await talk.events.close();
  await world.restart();
  const { requests } = world.model;
  const before = requests.length;
  world.model.enqueue({ text: 'Green.' });
  goTo(25);
  const again = await resumeTalk(world, talk.session);
  await again.nth('cron.fired', 1);
  await eventually(() => access(running));
  expect(requests).toHaveLength(before);
  await writeFile(go, '');
  await again.nth('turn.ended', 2);
  expect(requests).toHaveLength(before + 1);
});
