/** 20 random sessions through a real server: followers, late readers and file readers see the same transcript. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { userMessagesSchema, type RosterEntry } from '#schema/rest/transcript.ts';
import { applyOps } from '#server/transcript/reducer/apply.ts';
import type { TranscriptState } from '#server/transcript/reducer/state.ts';
import type { Script, ScriptHandle } from '#support/model-server.ts';
import { seeded, type Random } from '#support/random.ts';
import { expectLawful } from '#support/lawful-transcripts.ts';
import { canonical, listed, stateOfPage } from '#support/transcripts.ts';
import { opsOf, pageOf } from '#support/transcript-follower.ts';
import { startWorld, type World } from '#support/world.ts';
import type { WsClient } from '#support/ws-client.ts';

const SUBAGENT: Script = { thinking: 'Where?', text: ['The files ', 'hold two words. '.repeat(16)] };
const SESSIONS = 20;
const TURNS = 4;

let world: World;
/** Answers of the running turn, and those that are held. */
let answers: Script[] = [];
const held: ScriptHandle[] = [];
beforeAll(async () => {
  world = await startWorld();
  world.model.answerBy(({ body }) => {
    if (JSON.stringify(body['messages']).includes('You are a subagent')) return SUBAGENT;
    const next = answers.shift() ?? { text: 'Over.' };
    const handle = world.model.enqueue(next);
    if (next.hold) held.push(handle);
    return undefined;
  });
});
afterAll(() => world.close());

const page = async (id: string, agent = 'main') => {
  const read = await pageOf(world, id, agent, { page_size: 100 });
  const waiting = read.interactions.filter(({ state }) => state === 'pending');
  expect(read.pending_interactions).toEqual(waiting.map(({ interactionId }) => interactionId));
  return read;
};

interface Follower {
  agent: string;
  seq: number;
  state: TranscriptState;
}

async function joinNow(id: string, agent = 'main'): Promise<Follower> {
  const read = await page(id, agent);
  return { agent, seq: read.seq ?? 0, state: stateOfPage(read) };
}

async function catchUp(id: string, follower: Follower): Promise<void> {
  const read = await opsOf(world, id, follower.seq, follower.agent);
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
  () => ({ name: 'AskUserQuestion', args: { questions: [{ question: 'Which?', options }] } }),
  () => ({ name: 'EnterPlanMode', args: {} }),
  () => ({ name: 'ExitPlanMode', args: {} }),
  () => ({ name: 'Agent', args: { prompt: 'Look around', description: 'look around' } }),
];
const options = [{ label: 'A' }, { label: 'B', description: 'the other' }];

/** The answers of a turn; most complete it. */
function scripts(random: Random): Script[] {
  const steps: Script[] = [];
  const fate = random();
  if (fate < 0.1) return [{ status: 400, error: 'refused' }];
  for (let step = 0; step < Math.floor(random() * 3); step += 1) {
    const count = 1 + Math.floor(random() * 2);
    const made = Array.from({ length: count }, () => calls[Math.floor(random() * calls.length)]?.(random));
    steps.push({
      ...(random() < 0.5 ? { thinking: ['Let me', ' see.'] } : {}),
      ...(random() < 0.7 ? { text: ['Look', 'ing ', '🚀.'] } : {}),
      calls: made.flatMap((call) => call ?? []),
    });
  }
  const hold = fate < 0.25;
  const text = !hold && random() < 0.1 ? ['long '.repeat(8000), 'and more'] : ['All ', 'done.'];
  return [...steps, { ...(random() < 0.3 ? { thinking: 'So.' } : {}), text, ...(hold ? { hold } : {}) }];
}

/** Runs a turn to its end: answers interactions, aborts or steers a held answer. */
async function runTurn(id: string, client: WsClient, random: Random, follower: Follower): Promise<void> {
  answers = scripts(random);
  held.length = 0;
  const from = client.frames.length;
  const path = `/sessions/${id}`;
  const { prompt_id } = await world.prompt(id, `Go on ${random()}`);
  for (let at = from; ; at += 1) {
    const { type, payload } = await client.waitFor((one) => client.frames.indexOf(one) === at);
    if (random() < 0.05) await catchUp(id, follower);
    if (type === 'event.approval.requested') {
      const decision = random() < 0.7 ? 'approved' : 'rejected';
      await world.ok('POST', `${path}/approvals/${String(payload['approval_id'])}`, { decision });
    }
    if (type === 'event.question.requested') {
      const question = `${path}/questions/${String(payload['question_id'])}`;
      const answers = { q_0: { kind: 'single', option_id: 'opt_0_1' } };
      if (random() < 0.5) await world.ok('POST', question, { answers });
      else await world.api('POST', `${question}:dismiss`);
    }
    if (type === 'assistant.delta' && held[0] && String(payload['delta']).includes('done')) {
      if (random() < 0.5) await world.ok('POST', `${path}/prompts/${prompt_id}:abort`);
      else {
        const more = await world.prompt(id, 'And this');
        await world.ok('POST', `${path}/prompts/${more.prompt_id}:steer`);
        answers = [{ text: 'This too.' }];
        held[0].release();
      }
    }
    const over = type === 'prompt.completed' || type === 'prompt.aborted';
    if (over && payload['promptId'] === prompt_id) return;
  }
}

/** Changes settings between two turns, as a client would. */
async function setSomething(id: string, random: Random): Promise<void> {
  const set = (agent_config: object) => world.ok('POST', `/sessions/${id}/profile`, { agent_config });
  if (random() < 0.3) await set({ plan_mode: random() < 0.5 });
  if (random() > 0.3) return;
  await set({ goal_objective: 'Make it work' });
  await set({ goal_control: 'cancel' });
}

const ids = (agents: readonly RosterEntry[]) => new Set(agents.map(({ agentId }) => agentId));

it.each(Array.from({ length: SESSIONS }, (_, n) => n + 1))('session %i', async (seed) => {
  const random = seeded(seed * 31);
  const { id } = await world.session();
  const client = await world.watch(id);
  const first = await joinNow(id);
  const followers = [first];
  for (let turn = 0; turn < TURNS; turn += 1) {
    if (turn === 2) followers.push(await joinNow(id));
    await setSomething(id, random);
    await runTurn(id, client, random, first);
    const { agents } = await page(id);
    for (const { agentId } of agents) {
      if (followers.every(({ agent }) => agent !== agentId)) followers.push(await joinNow(id, agentId));
      const shown = await page(id, agentId);
      for (const follower of followers.filter(({ agent }) => agent === agentId)) {
        await catchUp(id, follower);
        if (follower.seq === shown.seq) expect(listed(follower.state)).toEqual(listed(stateOfPage(shown)));
      }
    }
    const [early, late = early] = followers.filter(({ agent }) => agent === 'main');
    expect(late && listed(late.state)).toEqual(early && listed(early.state));
  }
  await client.close();
  const { agents } = await page(id);
  for (const { agentId } of agents) expectLawful((await joinNow(id, agentId)).state, ids(agents));
  const pages = await Promise.all(agents.map(({ agentId }) => page(id, agentId)));
  const plans = await world.ok('GET', `/sessions/${id}/transcript/plan?agent_id=main`);
  await world.restart();
  for (const live of pages) {
    const cold = await page(id, live.agent_id);
    expect(canonical(stateOfPage(cold))).toEqual(canonical(stateOfPage(live)));
    expect(cold.agents).toEqual(live.agents);
  }
  expect(await world.ok('GET', `/sessions/${id}/transcript/plan?agent_id=main`)).toEqual(plans);
  const cold = await page(id);
  const users = userMessagesSchema.parse(await world.ok('GET', `/sessions/${id}/transcript/user-messages`));
  const turns = cold.items.filter((item) => item.kind === 'turn');
  expect(turns).toHaveLength(TURNS);
  expect(users.agents[0]?.messages.map(({ turn_id, state, prompt }) => [turn_id, state, prompt])).toEqual(
    turns.map(({ turnId, state, prompt }) => [turnId, state, prompt]),
  );
});
