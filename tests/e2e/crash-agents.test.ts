/**
 * The built server killed while a subagent, background commands and a question are running: each of them is settled,
 * reported a single time without opening a turn, and the session continues.
 */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { transcriptPageSchema } from '#schema/rest/transcript.ts';
import { useBuiltServer } from '#support/built-server.ts';
import { createFollower, subscribe } from '#support/event-follower.ts';
import type { RecordedRequest, Script } from '#support/model-server.ts';
import { connect } from '#support/ws-client.ts';

const KILLS = 12;
const LAST_PROMPT = 'Are you there?';

const built = useBuiltServer(({ model }) => model.answerBy(answer));
const { ok } = built;

const words = Array.from({ length: 40 }, (_, n) => `word ${n} `);
const question = { question: 'Which one?', options: [{ label: 'One' }, { label: 'Two' }] };

/** Answers each agent by its last message: a prompt starts the work, results and notifications end it. */
function answer({ body }: RecordedRequest): Script {
  const messages = z.array(z.looseObject({ role: z.string() })).parse(body['messages']);
  const reminds = (text: string) => text.includes('system-reminder');
  const said = messages.map((message) => JSON.stringify(message)).findLast((text) => !reminds(text)) ?? '';
  if (said.includes('Count to ten')) {
    return { text: words, calls: [{ name: 'Bash', args: { command: 'sleep 0.03; echo counted' } }], paceMs: 1 };
  }
  // A prompt that was interrupted before its first answer is sent together with the next one.
  if (!said.includes('Begin') || said.includes(LAST_PROMPT)) return { text: words, paceMs: 1 };
  const run = (command: string) => ({
    name: 'Bash',
    args: { command, description: 'Something', run_in_background: true },
  });
  const agent = (run_in_background: boolean) => ({
    name: 'Agent',
    args: { prompt: 'Count to ten', description: 'Counting', run_in_background },
  });
  return {
    text: 'At work.',
    calls: [
      run('sleep 30'),
      run('echo soon; sleep 0.02'),
      { name: 'AskUserQuestion', args: { questions: [question], background: true } },
      agent(true),
      agent(false),
    ],
  };
}

const taskPage = z.object({ items: z.array(z.object({ id: z.string(), status: z.string() })) });

/** Asserts that no task, interaction or turn of the session is running or pending. */
async function nothingRuns(id: string): Promise<void> {
  const { items } = taskPage.parse(await ok('GET', `/sessions/${id}/tasks`));
  expect(items.filter(({ status }) => status === 'running')).toEqual([]);
  for (const kind of ['approvals', 'questions']) {
    expect(await ok('GET', `/sessions/${id}/${kind}?status=pending`)).toMatchObject({ items: [] });
  }
  const page = await ok('GET', `/sessions/${id}/transcript?agent_id=main&page_size=100`);
  const { items: turns, tasks, pending_interactions } = transcriptPageSchema.parse(page);
  expect(pending_interactions).toEqual([]);
  expect(JSON.stringify([turns, tasks])).not.toContain('"state":"running"');
}

test(`${KILLS} kills during subagents, background commands and questions`, async () => {
  const id = await built.newSession();
  const page = createFollower(id, built);
  await page.connect();
  for (let round = 0; round < KILLS; round += 1) {
    const moment = page.frames(10 + Math.floor(Math.random() * 120));
    await built.prompt(id, `Begin round ${round}`, { permission_mode: 'yolo' });
    await moment;
    let killed = Date.now();
    await built.restart('SIGKILL', async () => void (killed = Date.now()));
    await page.disconnected();
    await page.connect();
    await page.idle();
    await nothingRuns(id);
    const begunAlone = page.applied.filter(
      ({ type, timestamp = '' }) => type === 'turn.started' && !(Date.parse(timestamp) < killed),
    );
    expect(begunAlone).toEqual([]);
  }

  const told = page.applied.filter(({ type }) => type === 'task.notified').map(({ payload }) => payload['sourceId']);
  const begun = page.applied.filter(({ type }) => type === 'task.started');
  const ended = page.applied.filter(({ type }) => type === 'task.terminated');
  expect(begun.length).toBeGreaterThan(KILLS);
  expect(ended).toHaveLength(begun.length);
  // A single notification each, at any moment of the kill.
  expect(told.toSorted()).toEqual([...new Set(told)].toSorted());
  expect(told).toHaveLength(begun.length);

  const last = await built.prompt(id, LAST_PROMPT);
  await page.idle();
  expect(page.outcome(last)).toBe('completed');
  await page.close();

  const fresh = await connect(built.server);
  await subscribe(fresh, id, { seq: 0 });
  expect(fresh.durable(id)).toEqual(page.applied);
  await fresh.close();
});
