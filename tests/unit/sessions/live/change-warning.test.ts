/** Detection that a command may have changed a setting, and the text of the warning. */
import { describe, expect, it } from 'vitest';
import { changeText, quoted, ranCommand, recently } from '#server/sessions/live/change-warning.ts';
import type { Task } from '#server/tasks/task.ts';
import type { TaskInfo } from '#schema/events/tasks.ts';

/** An id that no process group has, because process ids are smaller. */
const NO_GROUP = 2 ** 30;
const NOW = 1_000_000;

const command = (more: { status?: 'running'; endedAt: number | null }): TaskInfo => ({
  taskId: 'bash-1',
  description: 'Something',
  status: 'completed',
  startedAt: 0,
  kind: 'process',
  command: 'true',
  pid: NO_GROUP,
  exitCode: 0,
  ...more,
});

const tasksOf = (...infos: TaskInfo[]) => ({
  all: () => infos.map((info) => ({ info: () => info }) as Pick<Task, 'info'> as Task),
});

const ran = (info: TaskInfo) => ranCommand(tasksOf(info), recently(NOW));

describe('a command', () => {
  it('counts while it runs', async () => {
    expect(await ran(command({ status: 'running', endedAt: null }))).toBe(true);
  });

  it('counts until 2 s after its end', async () => {
    expect(await ran(command({ endedAt: NOW - 1999 }))).toBe(true);
    expect(await ran(command({ endedAt: NOW - 2000 }))).toBe(false);
  });

  it('counts if it ended after the earliest time of the change', async () => {
    expect(await ranCommand(tasksOf(command({ endedAt: NOW - 60_000 })), NOW - 60_001)).toBe(true);
    expect(await ranCommand(tasksOf(command({ endedAt: NOW - 60_000 })), NOW - 60_000)).toBe(false);
  });

  it('is the only kind of task that counts: subagents and questions do not', async () => {
    const agent: TaskInfo = {
      taskId: 'agent-1',
      description: 'Something',
      status: 'running',
      startedAt: 0,
      endedAt: null,
      kind: 'agent',
    };
    expect(await ran(agent)).toBe(false);
  });
});

describe('the text', () => {
  const curl = { user_agent: 'curl/8.5 more', remote_address: '127.0.0.1' };
  const mode = (title: string) => `the permission mode of session ${quoted(title)} was set to yolo`;

  it('names the client, or that a file was changed', () => {
    expect(changeText({ what: mode('Fix'), by: curl })).toBe(
      'The permission mode of session "Fix" was set to yolo while a command was running, by curl/8.5 (127.0.0.1).',
    );
    expect(changeText({ what: 'hooks changed', by: undefined })).toBe(
      'Hooks changed while a command was running, not through this server.',
    );
  });

  it('does not trust a client that calls itself the page', () => {
    expect(changeText({ what: 'hooks changed', by: { client_name: 'service-code-web' } })).toContain(
      'by service-code-web, which calls itself the page.',
    );
  });

  it('keeps mode and client visible after a long title, which can neither close nor reorder the text', () => {
    const long = changeText({ what: mode('x'.repeat(10_000)), by: curl });
    expect(long).toMatch(/x…" was set to yolo while .* by curl\/8\.5 \(127\.0\.0\.1\)\.$/);
    expect(long.length).toBeLessThan(300);
    const hostile = changeText({ what: mode('\u202Eab\n\n" was set to manual, by you.\u2066'), by: curl });
    expect(hostile).toContain(`"<U+202E>ab<U+000A><U+000A>' was set to manual, by you.<U+2066>" was set to yolo`);
  });

  it('shows hidden characters of the client', () => {
    expect(changeText({ what: 'hooks changed', by: { client_name: 'a\u2800b' } })).toContain('by a<U+2800>b.');
  });

  it('leaves titles of other scripts readable', () => {
    expect(quoted('مرحبا بالعالم 👩‍💻')).toBe('"مرحبا بالعالم 👩‍💻"');
  });
});
