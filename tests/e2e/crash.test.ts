/**
 * The built server killed in mid-turn: what a client has seen is kept, and events alone tell it how the turn ended.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { isGlobalEvent } from '#server/events/frame.ts';
import { transcriptPageSchema, type Item } from '#schema/transcript.ts';
import { makeBuiltHome, type BuiltHome } from '#support/built-home.ts';
import { recordEvents } from '#support/event-log.ts';
import type { ModelServer, Script } from '#support/model-server.ts';
import { spawnServer, type SpawnedServer } from '#support/server.ts';
import { connect, type ReceivedFrame, type WsClient } from '#support/ws-client.ts';

const KILLS = 20;

let base: BuiltHome;
let home: string;
let project: string;
let model: ModelServer;
let server: SpawnedServer;

beforeEach(async () => {
  base = await makeBuiltHome();
  ({ home, project, model } = base);
  await writeFile(join(project, 'a.txt'), 'hello\n');
  server = await spawnServer({ home });
});
afterEach(async () => {
  await server.close();
  await base.remove();
});

async function post(path: string, body: unknown): Promise<unknown> {
  const { code, msg, data } = await server.api('POST', path, body);
  expect(`${code} ${msg}`).toBe('0 success');
  return data;
}

async function newSession(): Promise<string> {
  return z.object({ id: z.string() }).parse(await post('/sessions', { metadata: { cwd: project } })).id;
}

const prompt = (id: string, text: string, more: object = {}) =>
  post(`/sessions/${id}/prompts`, { content: [{ type: 'text', text }], ...more });

const subscribe = (client: WsClient, id: string, cursor: { seq: number; epoch?: string }) =>
  client.send({ type: 'subscribe', payload: { session_ids: [id], cursors: { [id]: cursor } } });

async function killAndRestart(): Promise<void> {
  await server.stop('SIGKILL');
  server = await spawnServer({ home });
}

/** A page that follows one session over all its connections. */
function follower(id: string) {
  const applied: ReceivedFrame[] = [];
  let client: WsClient | undefined;
  let read = 0;
  let subscribed = false;

  /** Applies what has come; every durable event must be the next one. */
  function apply(): void {
    for (const frame of client?.frames.slice(read) ?? []) {
      read += 1;
      if (frame.type === 'ack') subscribed = true;
      if (frame.session_id !== id || frame.volatile) continue;
      const next = (applied.at(-1)?.seq ?? 0) + 1;
      // Global events come without a subscription; the replay brings them in their places.
      if (frame.seq !== next && !subscribed && isGlobalEvent(frame.type)) continue;
      expect(frame.seq).toBe(next);
      applied.push(frame);
    }
  }

  return {
    applied,
    async connect() {
      client = await connect(server);
      read = 0;
      subscribed = false;
      const { seq = 0, epoch = '' } = applied.at(-1) ?? {};
      const ack = await subscribe(client, id, { seq, epoch });
      expect(ack.payload).toMatchObject({ accepted: [id], resync_required: [] });
      apply();
    },
    /** Resolves after so many more frames, at the end of the turn at the latest. */
    async frames(count: number) {
      let left = count;
      const from = client?.frames.length ?? 0;
      await client?.waitFor((frame) => {
        if ((client?.frames.indexOf(frame) ?? 0) >= from) left -= 1;
        return left <= 0 || (left < count && frame.type === 'prompt.completed');
      });
      apply();
    },
    async disconnected() {
      await client?.closed;
      apply();
    },
    /** By events alone. */
    async idle() {
      const isIdle = () => {
        apply();
        const work = applied.findLast(({ type }) => type === 'event.session.work_changed');
        return work?.payload['busy'] === false;
      };
      await expect.poll(isIdle, { timeout: 10_000, interval: 5 }).toBe(true);
      const last = applied.findLast(({ type }) => type === 'turn.started' || type === 'turn.ended');
      expect(last?.type).toBe('turn.ended');
    },
    close: () => client?.close(),
  };
}

/** The transcript's items; nothing of it runs, and what had ended before is as it was. */
async function settledTranscript(id: string, before: Item[]): Promise<Item[]> {
  const { data } = await server.api('GET', `/sessions/${id}/transcript?agent_id=main&page_size=100`);
  const { items, pending_interactions } = transcriptPageSchema.parse(data);
  expect(items.slice(0, before.length)).toEqual(before);
  const turns = items.filter((item) => item.kind === 'turn');
  const steps = turns.flatMap((turn) => turn.steps);
  const calls = steps.flatMap((step) => step.frames.filter((frame) => frame.kind === 'tool'));
  expect([...turns, ...steps, ...calls].map(({ state }) => state)).not.toContain('running');
  expect(pending_interactions).toEqual([]);
  return items;
}

/** A turn of some steps, streamed piece by piece. */
function enqueueTurn(round: number): void {
  const words = Array.from({ length: 15 }, (_, n) => `word ${round}.${n} `);
  const command = 'for n in 1 2 3; do echo $n; sleep 0.01; done';
  const scripts: Script[] = [
    { thinking: words, text: words, calls: [{ name: 'Bash', args: { command } }], paceMs: 1 },
    { text: words, calls: [{ name: 'Write', args: { path: `${round}.txt`, content: 'x\n' } }], paceMs: 1 },
    { text: words, paceMs: 1 },
  ];
  for (const script of scripts) model.enqueue(script);
}

test(`${KILLS} kills in mid-turn: no event is lost, repeated or renumbered, and the session goes on`, async () => {
  const id = await newSession();
  const page = follower(id);
  await page.connect();
  let shown: Item[] = [];
  for (let round = 0; round < KILLS; round += 1) {
    enqueueTurn(round);
    const moment = page.frames(1 + Math.floor(Math.random() * 40));
    await prompt(id, `Round ${round}`, { permission_mode: 'yolo' });
    await moment;
    await killAndRestart();
    await page.disconnected();
    await page.connect();
    await page.idle();
    shown = await settledTranscript(id, shown);
  }

  model.enqueue({ text: 'Still here.' });
  for (let count = 0; count < 3 * KILLS; count += 1) model.enqueue({ text: 'Left over.' });
  const over = page.frames(1000);
  await prompt(id, 'Are you there?');
  await over;
  expect(page.applied.at(-1)).toMatchObject({ type: 'prompt.completed', payload: { reason: 'completed' } });
  await page.close();

  const fresh = await connect(server);
  await subscribe(fresh, id, { seq: 0 });
  expect(fresh.durable(id)).toEqual(page.applied);
  expect(new Set(page.applied.map(({ epoch }) => epoch)).size).toBe(1);
  await fresh.close();
  const session = await server.api('GET', `/sessions/${id}`);
  expect(session.data).toMatchObject({ busy: false, pending_interaction: 'none', last_turn_reason: 'completed' });
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

test.each(crashes)('%s: what was open is settled in this order', async (name, scripts, until) => {
  const id = await newSession();
  const before = await connect(server);
  await subscribe(before, id, { seq: 0 });
  for (const script of scripts) model.enqueue(script);
  await prompt(id, 'First', { permission_mode: until === 'tool.progress' ? 'yolo' : 'manual' });
  await before.waitFor(({ type }) => type === until);
  await prompt(id, 'Second');
  await before.waitFor(({ type }) => type === 'prompt.queued');
  const { seq = 0, epoch = '' } = before.durable(id).at(-1) ?? {};
  await killAndRestart();
  await before.closed;

  // In the background, right after the start.
  const settled = async () => (await server.api('GET', `/sessions/${id}`)).data;
  await expect.poll(settled).toMatchObject({ busy: false, last_turn_reason: 'cancelled' });
  const after = await connect(server);
  const recorder = recordEvents(after, { masks: { [project]: '<project>' } });
  await subscribe(after, id, { seq, epoch });
  await expect(await recorder.text()).toMatchFileSnapshot(`../api/golden/${name}.txt`);
  expect((await server.api('GET', `/sessions/${id}/prompts`)).data).toMatchObject({ active: null, queued: [] });
  await after.close();
});
