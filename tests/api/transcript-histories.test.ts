/** 20 random sessions through a real server: who follows one, who reads it late and who reads its file see the same. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { transcriptPageSchema, userMessagesSchema } from '#schema/transcript.ts';
import { transcriptOpsSchema } from '#schema/transcript-ops.ts';
import { applyOps } from '#server/transcript/reducer/apply.ts';
import type { TranscriptState } from '#server/transcript/reducer/state.ts';
import type { Script } from '#support/model-server.ts';
import { seeded, type Random } from '#support/session-histories.ts';
import { canonical, listed, stateOfPage } from '#support/transcripts.ts';
import { startWorld, type World } from '#support/world.ts';
import type { WsClient } from '#support/ws-client.ts';

const SESSIONS = 20;
const TURNS = 4;

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const page = async (id: string, query = '') =>
  transcriptPageSchema.parse(await world.ok('GET', `/sessions/${id}/transcript?agent_id=main&page_size=100${query}`));

interface Follower {
  seq: number;
  state: TranscriptState;
}

async function joinNow(id: string): Promise<Follower> {
  const read = await page(id);
  return { seq: read.seq ?? 0, state: stateOfPage(read) };
}

async function catchUp(id: string, follower: Follower): Promise<void> {
  const query = `agent_id=main&since_seq=${follower.seq}`;
  const read = transcriptOpsSchema.parse(await world.ok('GET', `/sessions/${id}/transcript/ops?${query}`));
  expect(read.complete).toBe(true);
  for (const { seq, ops } of read.batches) {
    expect(seq).toBe((follower.seq += 1));
    expect(applyOps(follower.state, ops).gap).toBe(false);
  }
  expect(follower.seq).toBe(read.latest_seq);
}

const calls: ((random: Random) => NonNullable<Script['calls']>[number])[] = [
  () => ({ name: 'Read', args: { path: 'a.txt' } }),
  () => ({ name: 'Read', args: { path: 'missing.txt' } }),
  () => ({ name: 'Bash', args: { command: 'echo one; echo two' } }),
  (random) => ({ name: 'TodoList', args: { todos: [{ title: `${random()}`, status: 'pending' }] } }),
  () => ({ name: 'NoSuchTool', args: {} }),
  () => ({ name: 'Read', args: 'no json' }),
  () => ({ name: 'Read', args: { path: 'a.txt' } }),
];

/** The answers of a turn; most end it. */
function scripts(random: Random): Script[] {
  const answers: Script[] = [];
  const fate = random();
  if (fate < 0.1) return [{ status: 400, error: 'refused' }];
  for (let step = 0; step < Math.floor(random() * 3); step += 1) {
    const count = 1 + Math.floor(random() * 2);
    const made = Array.from({ length: count }, () => calls[Math.floor(random() * calls.length)]?.(random));
    answers.push({
      ...(random() < 0.5 ? { thinking: ['Let me', ' see.'] } : {}),
      ...(random() < 0.7 ? { text: ['Look', 'ing ', '🚀.'] } : {}),
      calls: made.flatMap((call) => call ?? []),
    });
  }
  const text = random() < 0.1 ? ['long '.repeat(8000), 'and more'] : ['All ', 'done.'];
  return [...answers, { ...(random() < 0.3 ? { thinking: 'So.' } : {}), text, ...(fate < 0.25 ? { hold: true } : {}) }];
}

/** Runs a turn to its end: what is asked is answered, what hangs is cut short. */
async function runTurn(id: string, client: WsClient, random: Random, follower: Follower): Promise<void> {
  const made = scripts(random);
  for (const script of made) world.model.enqueue(script);
  const from = client.frames.length;
  const { prompt_id } = await world.prompt(id, `Go on ${random()}`);
  for (let at = from; ; at += 1) {
    const frame = await client.waitFor((one) => client.frames.indexOf(one) === at);
    if (random() < 0.1) await catchUp(id, follower);
    if (frame.type === 'event.approval.requested') {
      const decision = random() < 0.7 ? 'approved' : 'rejected';
      await world.ok('POST', `/sessions/${id}/approvals/${String(frame.payload['approval_id'])}`, { decision });
    }
    const last = made.at(-1);
    if (frame.type === 'assistant.delta' && last?.hold && String(frame.payload['delta']).includes('done')) {
      await world.ok('POST', `/sessions/${id}/prompts/${prompt_id}:abort`);
    }
    if (frame.type === 'prompt.completed' || frame.type === 'prompt.aborted') return;
  }
}

it.each(Array.from({ length: SESSIONS }, (_, n) => n + 1))('session %i', { timeout: 60_000 }, async (seed) => {
  const random = seeded(seed * 31);
  const { id } = await world.session();
  const client = await world.watch(id);
  const first = await joinNow(id);
  let late = first;
  for (let turn = 0; turn < TURNS; turn += 1) {
    if (turn === 2) late = await joinNow(id);
    await runTurn(id, client, random, first);
    const shown = await page(id);
    await Promise.all([catchUp(id, first), late === first ? undefined : catchUp(id, late)]);
    if (first.seq === shown.seq) expect(listed(first.state)).toEqual(listed(stateOfPage(shown)));
    expect(listed(late.state)).toEqual(listed(first.state));
  }
  await client.close();
  const live = await page(id);
  await world.restart();
  const cold = await page(id);
  expect(canonical(stateOfPage(cold))).toEqual(canonical(stateOfPage(live)));
  expect(cold.agents).toEqual(live.agents);
  const users = userMessagesSchema.parse(await world.ok('GET', `/sessions/${id}/transcript/user-messages`));
  const turns = cold.items.filter((item) => item.kind === 'turn');
  expect(turns).toHaveLength(TURNS);
  expect(users.agents[0]?.messages.map(({ turn_id, state, prompt }) => [turn_id, state, prompt])).toEqual(
    turns.map(({ turnId, state, prompt }) => [turnId, state, prompt]),
  );
});
