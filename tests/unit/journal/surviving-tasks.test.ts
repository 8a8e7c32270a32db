import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { event } from '#server/journal/records.ts';
import { survivingTasks } from '#server/journal/surviving-tasks.ts';
import { identityOf, type ProcessIdentity } from '#server/processes/process-identity.ts';
import type { TaskInfo } from '#schema/events/tasks.ts';
import { folded } from './projections/folded.ts';

const command = (taskId: string, pid: number): TaskInfo => ({
  taskId,
  kind: 'process',
  description: '',
  status: 'running',
  startedAt: 0,
  endedAt: null,
  command: '',
  pid,
  exitCode: null,
});
const started = (taskId: string, process?: ProcessIdentity) =>
  event('main', 'task.started', { info: command(taskId, process?.pid ?? 1) }, ...(process ? [{ process }] : []));

it('are the running commands whose own process has not exited', async () => {
  const child = spawn('sleep', ['1000']);
  onTestFinished(() => void child.kill('SIGKILL'));
  const process = await identityOf(child.pid ?? 0);
  if (!process) throw new Error('no process');
  const ended = { ...command('ended', process.pid), status: 'completed' as const };
  const { tasks } = folded(
    started('runs', process),
    started('unidentified'),
    started('another process with its id', { ...process, start: '1' }),
    started('of another machine', { ...process, machine: 'elsewhere' }),
    started('ended', process),
    event('main', 'task.terminated', { info: ended }),
    started('also runs', process),
  );
  expect([...(await survivingTasks({ tasks }))]).toEqual(['runs', 'also runs']);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect([...(await survivingTasks({ tasks }))]).toEqual([]);
});
