/** Task settings and their defaults: time-outs, grace period, stopping the server. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { processAlive } from '#server/processes/process-alive.ts';
import { manualClock } from '#support/manual-clock.ts';
import { call, resumeTalk, startTalk, wireMessages, wireText, type Talk } from '#support/talk.ts';
import { startWorld, type World, type WorldOptions } from '#support/world.ts';

let world: World;
afterEach(() => world.close());

async function begin(task: Record<string, unknown>, more: WorldOptions = {}): Promise<Talk> {
  world = await startWorld({ ...more, config: { default_permission_mode: 'yolo', task } });
  return startTalk(world);
}

const textOf = (name: string) => readFile(join(world.project, name), 'utf8').catch(() => '');
const put = (name: string) => writeFile(join(world.project, name), '');
const statusOf = async ({ path }: Talk, id: string) =>
  z.object({ status: z.string() }).parse(await world.ok('GET', `${path}/tasks/${id}`)).status;

const listSchema = z.object({ items: z.array(z.object({ id: z.string() })) });
const pidSchema = z.object({ taskId: z.string(), pid: z.number() });

/** A turn that starts a command in the background. */
async function started(talk: Talk, command: string) {
  const made = call('Bash', { command, description: 'Work', run_in_background: true });
  await talk.turn('go', [{ calls: [made] }, { text: 'Started.' }]);
  return pidSchema.parse(talk.all('task.started').at(-1)?.payload.info);
}

test('bash_auto_background_on_timeout: false kills a command at its time-out; a detach applies bash_task_timeout_s', async () => {
  const talk = await begin({ bash_auto_background_on_timeout: false, bash_task_timeout_s: 77 });
  const { results } = await talk.turn('go', [
    { calls: [call('Bash', { command: 'echo so far; sleep 30', timeout: 1 })] },
    { text: 'Oh.' },
  ]);
  expect(results).toMatchObject([
    { isError: true, output: expect.stringMatching(/^so far\nThe command was killed after its time limit of 1 s/) },
  ]);
  expect(talk.all('task.started')).toEqual([]);
  await talk.prompt('more', [{ calls: [call('Bash', { command: 'sleep 30' })] }, { text: 'It goes on.' }]);
  const running = async () => listSchema.parse(await world.ok('GET', `${talk.path}/tasks?status=running`)).items;
  await expect.poll(running).toHaveLength(1);
  const [task] = await running();
  await world.ok('POST', `${talk.path}/tasks/${task?.id}:detach`);
  expect((await talk.nth('task.started', 1)).payload.info).toMatchObject({ timeoutMs: 77_000 });
  await talk.nth('turn.ended', 2);
});

describe('keep_alive_on_exit', () => {
  const works = (name: string) => `echo $$ > ${name}.pid; until test -e go; do sleep 0.02; done; echo done > ${name}`;

  test('lets background commands run; they are lost, reported when the session is loaded, and open no turn', async () => {
    const talk = await begin({ keep_alive_on_exit: true });
    const { taskId, pid } = await started(talk, works('kept'));
    await talk.prompt('wait', [{ calls: [call('Bash', { command: works('moved') })] }]);
    await expect.poll(() => textOf('moved.pid')).not.toBe('');
    const running = await world.ok('GET', `${talk.path}/tasks?status=running`);
    const [, moved = ''] = listSchema.parse(running).items.map(({ id }) => id);
    world.model.enqueue({ text: 'Both go on.' });
    const ended = talk.nth('turn.ended', 2);
    await world.ok('POST', `${talk.path}/tasks/${moved}:detach`);
    await ended;
    await world.restart();
    expect(processAlive(pid)).toBe(true);
    expect(processAlive(Number(await textOf('moved.pid')))).toBe(false);

    await world.ok('POST', `${talk.path}/profile`, { title: 'Loaded' });
    expect([await statusOf(talk, taskId), await statusOf(talk, moved)]).toEqual(['failed', 'cancelled']);
    const again = await resumeTalk(world, talk.session);
    expect(again.all('task.notified').map(({ payload }) => payload)).toMatchObject([
      { notificationType: 'task.lost', sourceId: taskId },
    ]);
    expect(again.all('turn.started')).toHaveLength(2);
    await again.turn('next', [{ text: 'I see.' }]);
    expect(wireMessages(world, -1).filter((message) => wireText(message).includes(`task:${taskId}:lost`))).toHaveLength(
      1,
    );
    expect(again.all('turn.started')).toHaveLength(3);
    await put('go');
    await expect.poll(() => textOf('kept')).toBe('done\n');
  });

  test('is off by default: stopping the server kills every command', async () => {
    const talk = await begin({});
    const { taskId, pid } = await started(talk, works('kept'));
    await world.restart();
    expect(processAlive(pid)).toBe(false);
    await world.ok('POST', `${talk.path}/profile`, { title: 'Loaded' });
    expect(await statusOf(talk, taskId)).toBe('cancelled');
    const again = await resumeTalk(world, talk.session);
    expect(again.all('task.terminated')[0]?.payload.info).toMatchObject({
      stopReason: 'session closed',
      terminalNotificationSuppressed: true,
    });
    expect(again.all('task.notified')).toEqual([]);
  });
});

test('a stubborn command is awaited for its grace period, 5 s by default, and 2 s more', async () => {
  const clock = manualClock();
  const talk = await begin({}, { clock });
  const { taskId, pid } = await started(talk, `trap '' TERM; touch ready; while :; do sleep 0.05; done`);
  await expect
    .poll(() =>
      readFile(join(world.project, 'ready')).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  let answered = false;
  const cancelled = world.api('POST', `${talk.path}/tasks/${taskId}:cancel`).finally(() => (answered = true));
  await expect.poll(() => clock.waits()).toContain(7000);
  expect(await statusOf(talk, taskId)).toBe('running');
  expect([answered, processAlive(pid)]).toEqual([false, true]);
  world.model.enqueue({ text: 'As you wish.' });
  clock.advance(7000);
  expect((await cancelled).data).toEqual({ cancelled: true });
  expect(await statusOf(talk, taskId)).toBe('cancelled');
  await talk.nth('turn.ended', 2);
  process.kill(-pid, 'SIGKILL');
});
