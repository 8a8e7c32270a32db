/** Background commands of a killed server: those that still run are reported, and can be stopped. */
import { spawn, type ChildProcess } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { processAlive } from '#server/processes/process-alive.ts';
import { groupRuns } from '#server/processes/process-group.ts';
import { useBuiltServer } from '#support/built-server.ts';
import { until } from '#support/patience.ts';

const built = useBuiltServer();
const { ok } = built;

interface Command {
  id: string;
  pid: number;
}

const started = z.object({ r: z.array(z.looseObject({ type: z.string() })) });
const startRecord = z.object({
  type: z.literal('task.started'),
  info: z.object({ taskId: z.string(), pid: z.number() }),
  x: z.object({ process: z.object({ pid: z.number(), start: z.string(), machine: z.string() }) }),
});

async function journalOf(session: string): Promise<string> {
  const { workspace_id: workspace } = z
    .object({ workspace_id: z.string() })
    .parse(await ok('GET', `/sessions/${session}`));
  return join(built.base.home, 'sessions', workspace, session, 'journal.ndjson');
}

/** Runs commands in the background; the end of the test kills them at the latest. */
async function run(session: string, ...commands: string[]): Promise<Command[]> {
  const { model } = built.base;
  const calls = commands.map((command) => ({
    name: 'Bash',
    args: { command, description: 'Something', run_in_background: true },
  }));
  model.enqueue({ calls });
  model.enqueue({ text: 'They run.' });
  await built.prompt(session, 'Run them', { permission_mode: 'yolo' });
  await idle(session);
  const lines = (await readFile(await journalOf(session), 'utf8')).trim().split('\n').slice(1);
  const records = lines.flatMap((line) => started.parse(JSON.parse(line)).r);
  const found = records.flatMap((record) => startRecord.safeParse(record).data ?? []);
  expect(found).toHaveLength(commands.length);
  return found.map(({ info, x }) => {
    expect(x.process.pid).toBe(info.pid);
    onTestFinished(() => {
      try {
        process.kill(-info.pid, 'SIGKILL');
      } catch {
        // It has exited.
      }
    });
    return { id: info.taskId, pid: info.pid };
  });
}

const idle = (session: string) =>
  until(
    async () =>
      z.object({ active: z.unknown() }).parse(await ok('GET', `/sessions/${session}/prompts`)).active === null,
  );

/** The notification of a lost task for the agent. */
async function notification(session: string, { id }: Command): Promise<string> {
  const messages = JSON.stringify(await ok('GET', `/sessions/${session}/messages?page_size=100`));
  return new RegExp(`task:${id}:lost.*?</notification>`).exec(messages)?.[0] ?? '';
}

/** Lets the model call a tool; returns the messages of the next request. */
async function callTool(session: string, name: string, args: object): Promise<string> {
  const { model } = built.base;
  model.enqueue({ calls: [{ name, args }] });
  model.enqueue({ text: 'Done.' });
  await built.prompt(session, 'Do it', { permission_mode: 'yolo' });
  await idle(session);
  return JSON.stringify(model.requests.at(-1)?.body['messages']);
}

const cancel = (session: string, { id }: Command) =>
  built.server.api('POST', `/sessions/${session}/tasks/${id}:cancel`);
const load = (session: string) => ok('POST', `/sessions/${session}/profile`, { title: 'Loaded' });

test('running commands are reported with their pid, and stopped by :cancel and TaskStop', async () => {
  const session = await built.newSession();
  const [first, second, gone] = await run(session, 'echo one; sleep 1000 & wait', 'sleep 1001', 'sleep 1002');
  if (!first || !second || !gone) throw new Error('three commands');
  await built.restart('SIGKILL', async () => {
    process.kill(-gone.pid, 'SIGKILL');
    await until(() => !processAlive(gone.pid));
  });
  for (const command of [first, second]) {
    expect(await notification(session, command)).toContain(`It may still run, with pid ${command.pid}`);
  }
  expect(await notification(session, gone)).not.toContain('may still run');

  await load(session);
  const path = `/sessions/${session}/tasks`;
  expect(await ok('GET', `${path}/${first.id}?with_output=true`)).toMatchObject({
    status: 'failed',
    output_preview: expect.stringMatching(new RegExp(`^one\n\n\\[.*with pid ${first.pid};`)),
  });
  expect(await callTool(session, 'TaskOutput', { task_id: second.id })).toContain(`with pid ${second.pid}`);
  expect(JSON.stringify(await ok('GET', `${path}/${gone.id}?with_output=true`))).not.toContain('may still run');

  expect(await cancel(session, first)).toMatchObject({ code: 0, data: { cancelled: true } });
  // The whole process group.
  expect(await groupRuns(first.pid)).toBe(false);
  expect(await cancel(session, first)).toMatchObject({ code: 40904, details: { current_status: 'failed' } });
  expect(await callTool(session, 'TaskStop', { task_id: second.id })).toContain('status: killed');
  expect(await groupRuns(second.pid)).toBe(false);
  expect(await callTool(session, 'TaskStop', { task_id: second.id })).toContain('It had ended already');
  expect(await cancel(session, gone)).toMatchObject({ code: 40904 });
});

/** A process of this test, in its own process group. */
async function stranger(): Promise<ChildProcess & { pid: number }> {
  const child = spawn('sleep', ['1003'], { detached: true, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  const pid = await until(() => child.pid);
  return Object.assign(child, { pid });
}

test.each([
  [
    'whose pid was given to another process',
    (record: string, from: number, to: number) => record.replaceAll(`"pid":${from},`, `"pid":${to},`),
  ],
  ['of another boot', (record: string) => record.replaceAll(/"machine":"/g, '"machine":"other ')],
])('a command %s is not reported as running, and no process is stopped', async (_what, change) => {
  const session = await built.newSession();
  const [command] = await run(session, 'sleep 1000');
  const other = await stranger();
  if (!command) throw new Error('a command');
  const journal = await journalOf(session);
  await built.restart('SIGKILL', async () => {
    const text = await readFile(journal, 'utf8');
    const changed = change(text, command.pid, other.pid);
    expect(changed).not.toBe(text);
    await writeFile(journal, changed);
  });
  expect(await notification(session, command)).toContain('how it ended is not known');
  expect(await notification(session, command)).not.toContain('may still run');
  await load(session);
  expect(await cancel(session, command)).toMatchObject({ code: 40904 });
  expect(await callTool(session, 'TaskStop', { task_id: command.id })).toContain('It had ended already');
  expect([processAlive(other.pid), processAlive(command.pid)]).toEqual([true, true]);
});

test('a copy of the session does not stop the commands of the original', async () => {
  const session = await built.newSession();
  const [command] = await run(session, 'sleep 1000');
  if (!command) throw new Error('a command');
  await built.restart('SIGKILL');
  const { id: copy } = z.object({ id: z.string() }).parse(await ok('POST', `/sessions/${session}:fork`, {}));
  await load(copy);
  expect(await cancel(copy, command)).toMatchObject({ code: 40904 });
  expect(processAlive(command.pid)).toBe(true);
  await load(session);
  expect(await cancel(session, command)).toMatchObject({ code: 0 });
  expect(await groupRuns(command.pid)).toBe(false);
});
