/** The built server killed in mid-turn: received events are preserved, and new ones report how the turn ended. */
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { acquireLease } from '#server/storage/lease.ts';
import { sessionSchema } from '#schema/rest/session.ts';
import { transcriptPageSchema, type Item } from '#schema/rest/transcript.ts';
import { useBuiltServer } from '#support/built-server.ts';
import { createFollower, subscribe } from '#support/event-follower.ts';
import { recordEvents } from '#support/event-log.ts';
import { leaseHolder } from '#support/lease-holder.ts';
import type { Script } from '#support/model-server.ts';
import { sessionFolder } from '#support/session-folder.ts';
import { connect, type ReceivedFrame } from '#support/ws-client.ts';

const KILLS = 20;

const built = useBuiltServer(({ project }) => writeFile(join(project, 'a.txt'), 'hello\n'));
const { newSession, prompt } = built;

/** The transcript's items; asserts that none is running and that items of `before` are unchanged. */
async function settledTranscript(id: string, before: Item[]): Promise<Item[]> {
  const { data } = await built.server.api('GET', `/sessions/${id}/transcript?agent_id=main&page_size=100`);
  const { items, pending_interactions } = transcriptPageSchema.parse(data);
  expect(items.slice(0, before.length)).toEqual(before);
  const turns = items.filter((item) => item.kind === 'turn');
  const steps = turns.flatMap((turn) => turn.steps);
  const calls = steps.flatMap((step) => step.frames.filter((frame) => frame.kind === 'tool'));
  expect([...turns, ...steps, ...calls].map(({ state }) => state)).not.toContain('running');
  expect(pending_interactions).toEqual([]);
  return items;
}

/** Enqueues a turn of three steps, streamed in small chunks. */
function enqueueTurn(round: number): void {
  const words = Array.from({ length: 15 }, (_, n) => `word ${round}.${n} `);
  const command = 'for n in 1 2 3; do echo $n; sleep 0.01; done';
  const scripts: Script[] = [
    { thinking: words, text: words, calls: [{ name: 'Bash', args: { command } }], paceMs: 1 },
    { text: words, calls: [{ name: 'Write', args: { path: `${round}.txt`, content: 'x\n' } }], paceMs: 1 },
    { text: words, paceMs: 1 },
  ];
  for (const script of scripts) built.base.model.enqueue(script);
}

test(`${KILLS} kills in mid-turn: no event is lost, repeated or renumbered, and the session continues`, async () => {
  const id = await newSession();
  const page = createFollower(id, built);
  await page.connect();
  let shown: Item[] = [];
  for (let round = 0; round < KILLS; round += 1) {
    enqueueTurn(round);
    const moment = page.frames(1 + Math.floor(Math.random() * 40));
    await prompt(id, `Round ${round}`, { permission_mode: 'yolo' });
    await moment;
    await built.restart('SIGKILL');
    await page.disconnected();
    await page.connect();
    await page.idle();
    shown = await settledTranscript(id, shown);
  }

  built.base.model.enqueue({ text: 'Still here.' });
  for (let count = 0; count < 3 * KILLS; count += 1) built.base.model.enqueue({ text: 'Left over.' });
  const last = await prompt(id, 'Are you there?');
  await page.idle();
  expect(page.outcome(last)).toBe('completed');
  await page.close();

  const fresh = await connect(built.server);
  await subscribe(fresh, id, { seq: 0 });
  expect(fresh.durable(id)).toEqual(page.applied);
  expect(new Set(page.applied.map(({ epoch }) => epoch)).size).toBe(1);
  await fresh.close();
  const session = await built.server.api('GET', `/sessions/${id}`);
  expect(session.data).toMatchObject({ busy: false, pending_interaction: 'none', last_turn_reason: 'completed' });
});

test('a subscribe that settles a session: its connection receives each frame a single time, in order', async () => {
  // Sessions are settled in the order of their ids.
  const [id = '', other = ''] = [await newSession(), await newSession()].sort();
  const folderOf = async (session: string) =>
    sessionFolder(built.base.home, sessionSchema.parse(await built.ok('GET', `/sessions/${session}`)));
  const [lock, journal] = [join(await folderOf(id), 'lock'), join(await folderOf(other), 'journal.ndjson')];
  let shown: ReceivedFrame[] = [];
  for (const session of [other, id]) {
    built.base.model.enqueue({ text: 'Half of', hold: true });
    const before = await connect(built.server);
    await subscribe(before, session, { seq: 0 });
    await prompt(session, 'First');
    await before.waitFor(({ type }) => type === 'assistant.delta');
    shown = before.durable(session);
    await before.close();
  }
  // The starting server skips a session that another one owns, so the subscribe settles it.
  let taken: Awaited<ReturnType<typeof acquireLease>> | undefined;
  let size = 0;
  await built.restart('SIGKILL', async () => {
    taken = await acquireLease(lock, leaseHolder('another'));
    ({ size } = await stat(journal));
  });
  await expect.poll(async () => (await stat(journal)).size).toBeGreaterThan(size);
  if (!taken || 'owner' in taken) throw new Error('the lease was not taken');
  await taken.lease.release();

  const cursor = { seq: 2, epoch: shown[0]?.epoch ?? '' };
  const after = await connect(built.server);
  await subscribe(after, id, cursor);
  const frames = after.durable(id);
  const seqs = frames.map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.map((_, index) => cursor.seq + 1 + index));
  expect(frames.slice(0, shown.length - cursor.seq)).toEqual(shown.slice(cursor.seq));
  expect(frames.slice(shown.length - cursor.seq).map(({ type }) => type)).toEqual(
    expect.arrayContaining(['turn.ended', 'event.session.work_changed']),
  );
  await after.close();
});

const crashes: [name: string, scripts: Script[], until: string][] = [
  ['crash-while-streaming', [{ text: 'Half of', hold: true }], 'assistant.delta'],
  ['crash-during-a-call', [{ calls: [{ name: 'Bash', args: { command: 'echo on; sleep 30' } }] }], 'tool.progress'],
  [
    'crash-during-an-approval',
    [
      {
        calls: [
          { name: 'Read', args: { path: 'a.txt' } },
          { name: 'Bash', args: { command: 'rm a.txt' } },
        ],
      },
    ],
    'event.approval.requested',
  ],
  [
    'crash-during-a-question',
    [
      {
        calls: [
          {
            name: 'AskUserQuestion',
            args: { questions: [{ question: 'Which?', options: [{ label: 'One' }, { label: 'Two' }] }] },
          },
        ],
      },
    ],
    'event.question.requested',
  ],
];

test.each(crashes)('%s: open work is settled in this order', async (name, scripts, until) => {
  const id = await newSession();
  const before = await connect(built.server);
  await subscribe(before, id, { seq: 0 });
  for (const script of scripts) built.base.model.enqueue(script);
  await prompt(id, 'First', { permission_mode: until === 'tool.progress' ? 'yolo' : 'manual' });
  await before.waitFor(({ type }) => type === until);
  await prompt(id, 'Second');
  await before.waitFor(({ type }) => type === 'prompt.queued');
  const { seq = 0, epoch = '' } = before.durable(id).at(-1) ?? {};
  await built.restart('SIGKILL');
  await before.closed;

  // Settled in the background, right after the start.
  const settled = async () => (await built.server.api('GET', `/sessions/${id}`)).data;
  await expect.poll(settled).toMatchObject({ busy: false, last_turn_reason: 'cancelled' });
  const after = await connect(built.server);
  const recorder = recordEvents(after, { masks: { [built.base.project]: '<project>' } });
  await subscribe(after, id, { seq, epoch });
  await expect(await recorder.text()).toMatchFileSnapshot(`../api/golden/${name}.txt`);
  expect((await built.server.api('GET', `/sessions/${id}/prompts`)).data).toMatchObject({ active: null, queued: [] });
  await after.close();
});
