/** Two built servers on one home: one writes a session, the other reads it, then takes over after its exit. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import * as z from 'zod';
import { makeBuiltHome, type BuiltHome } from '#support/built-home.ts';
import type { ModelServer } from '#support/model-server.ts';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';
import { connect } from '#support/ws-client.ts';

let base: BuiltHome;
let project: string;
let model: ModelServer;
let first: SpawnedServer;
let second: SpawnedServer;

beforeEach(async () => {
  base = await makeBuiltHome();
  const { home } = base;
  ({ project, model } = base);
  first = await spawnServer({ home });
  second = await spawnServer({ home });
});
afterEach(async () => {
  await first.close();
  await second.close();
  await base.remove();
});

const text = (words: string) => ({ content: [{ type: 'text', text: words }] });

it.each(['SIGTERM', 'SIGKILL'] as const)(
  'the second reads what the first writes, and takes over after its %s',
  async (signal) => {
    const created = await first.api('POST', '/sessions', { metadata: { cwd: project } });
    const { id } = z.object({ id: z.string() }).parse(created.data);
    const path = `/sessions/${id}`;
    model.enqueue({ calls: [{ name: 'Bash', args: { command: 'touch made' } }] });
    await first.api('POST', `${path}/prompts`, text('First'));
    const pending = async () => (await second.api('GET', `${path}/approvals?status=pending`)).data;
    await expect.poll(pending).toMatchObject({ items: [{ tool_name: 'Bash' }] });
    const { items } = z.object({ items: z.array(z.object({ approval_id: z.string() })) }).parse(await pending());

    const approval = `${path}/approvals/${items[0]?.approval_id}`;
    const refused = [
      await second.api('POST', approval, { decision: 'approved' }),
      await second.api('POST', `${path}/prompts`, text('Second')),
    ];
    for (const answer of refused) {
      expect(answer).toMatchObject({ code: 40901, msg: expect.stringContaining(String(first.process.pid)) });
    }
    expect((await second.api('GET', path)).data).toMatchObject({ busy: true, pending_interaction: 'approval' });
    expect((await second.api('GET', `${path}/snapshot`)).data).toMatchObject({ pending_approvals: [{}] });

    const events = await connect(second);
    await events.send({ type: 'subscribe', payload: { session_ids: [id], cursors: { [id]: { seq: 0 } } } });
    await first.stop(signal);
    model.enqueue({ text: 'Taken over.' });
    await expect.poll(async () => (await second.api('POST', `${path}/prompts`, text('Second'))).code).toBe(0);
    const done = await events.waitFor(
      ({ type, payload }) => type === 'prompt.completed' && payload['reason'] === 'completed',
    );
    expect(done.session_id).toBe(id);
    expect((await second.api('GET', path)).data).toMatchObject({
      busy: false,
      pending_interaction: 'none',
      last_turn_reason: 'completed',
    });
    expect(await second.api('POST', approval, { decision: 'approved' })).toMatchObject({ code: 40902 });
    const types = events.durable(id).map(({ type }) => type);
    expect(types.filter((type) => type === 'turn.ended')).toHaveLength(2);
    expect(types.filter((type) => type === 'event.approval.resolved')).toHaveLength(1);
    await events.close();
  },
);

it('the second continues a session that the first has archived, and vice versa', async () => {
  const created = await first.api('POST', '/sessions', { metadata: { cwd: project } });
  const { id } = z.object({ id: z.string() }).parse(created.data);
  const path = `/sessions/${id}`;
  const servers = [first, second];
  const events = await connect(second);
  await events.send({ type: 'subscribe_v2', payload: { session_id: id, transcript: { main: 'delta' } } });
  for (const [turn, one] of [first, second, first].entries()) {
    const other = servers.find((each) => each !== one) ?? first;
    expect((await one.api('POST', `${path}:restore`)).code).toBe(0);
    model.enqueue({ text: `Answer ${turn}.` });
    expect((await one.api('POST', `${path}/prompts`, text(`Question ${turn}`))).code).toBe(0);
    await expect
      .poll(async () => (await one.api('GET', path)).data)
      .toMatchObject({ busy: false, last_turn_reason: 'completed' });
    if (one === second) {
      const told = await events.waitFor(({ type, payload }) => {
        return type === 'transcript.ops' && JSON.stringify(payload).includes(`Answer ${turn}.`);
      });
      const baseline = events.frames.findIndex(({ type }) => type === 'transcript.reset');
      expect(baseline).toBeGreaterThan(0);
      expect(baseline).toBeLessThan(events.frames.indexOf(told));
    }
    const refused = await other.api('POST', `${path}/prompts`, text('Too early'));
    expect(refused).toMatchObject({ code: 40901, msg: expect.stringContaining(String(one.process.pid)) });
    expect((await one.api('POST', `${path}:archive`)).code).toBe(0);
    for (const each of servers) {
      const page = await each.api('GET', `${path}/transcript?agent_id=main`);
      expect(page.data).toMatchObject({
        items: Array.from({ length: turn + 1 }, (_, at) => ({
          turnId: `t${at}`,
          state: 'completed',
          prompt: `Question ${at}`,
          steps: [{ frames: [{ text: `Answer ${at}.` }] }],
        })),
      });
    }
  }
  const late = await connect(first);
  await late.send({ type: 'subscribe', payload: { session_ids: [id], cursors: { [id]: { seq: 0 } } } });
  const numbers = late.durable(id).map(({ seq }) => seq);
  expect(numbers).toEqual(numbers.map((_, at) => at + 1));
  await late.close();
  await events.close();
});
