import { spawnSync } from 'node:child_process';
import { readFile, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { bashTool } from '#server/builtin-tools/bash.ts';
import type { ToolProgress, ToolResult } from '#server/tools/tool.ts';
import { eventually, until } from '#support/patience.ts';
import { tasksOf } from '#support/tasks.ts';
import { createWorkspace, planTool, runTool } from './workspace.ts';
import type { RunOptions, Workspace } from './workspace.ts';

let space: Workspace;
beforeEach(async () => {
  space = await createWorkspace();
});
afterEach(() => space.remove());

const bash = (args: object, options: RunOptions = {}) => runTool(bashTool, space.environment, args, options);

/** Whether a process is running; zombies are not. */
const isAlive = (pid: number) => {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.startsWith('Z');
};

/** The process ids a command wrote to a file, one a line. */
const pidsIn = async (name: string) => (await readFile(space.path(name), 'utf8')).trim().split('\n').map(Number);

describe('Bash', () => {
  test('runs in cwd and combines both streams in order', async () => {
    const progress: ToolProgress[] = [];
    const result = await bash(
      { command: 'pwd; echo out; sleep 0.05; echo err >&2; sleep 0.05; echo out2' },
      { onProgress: (update) => void progress.push(update) },
    );
    expect(result).toEqual({ output: `${space.environment.cwd}\nout\nerr\nout2\n` });
    expect(progress.map(({ text }) => text).join('')).toBe(result.output);
    expect(progress.filter(({ kind }) => kind === 'stderr')).toEqual([{ kind: 'stderr', text: 'err\n' }]);
  });

  test('fails with the exit code in the last line', async () => {
    expect(await bash({ command: 'echo x; exit 3' })).toEqual({ output: 'x\nExit code: 3', isError: true });
    expect(await bash({ command: 'printf x; exit 1' })).toEqual({ output: 'x\nExit code: 1', isError: true });
    expect(await bash({ command: 'kill -KILL $$' })).toEqual({ output: 'Exit code: 137', isError: true });
    expect(await bash({ command: 'true' })).toEqual({ output: '' });
  });

  test('stdin is closed, the environment is set', async () => {
    expect((await bash({ command: 'cat; read x || echo closed' })).output).toBe('closed\n');
    const { output } = await bash({ command: 'echo $NO_COLOR $TERM $GIT_TERMINAL_PROMPT $SHELL' });
    expect(output).toMatch(/^1 dumb 0 \S*bash\n$/);
    vi.stubEnv('GIT_TERMINAL_PROMPT', '1');
    expect((await bash({ command: 'echo $GIT_TERMINAL_PROMPT' })).output).toBe('1\n');
    vi.unstubAllEnvs();
  });

  test('the secrets of the server are not in its environment', async () => {
    vi.stubEnv('SERVICE_CODE_PASSWORD', 'p4ssword');
    vi.stubEnv('SERVICE_MODEL_API_KEY', 'p4ssword');
    vi.stubEnv('KEPT', 'kept');
    const { output } = await bash({ command: 'env' });
    vi.unstubAllEnvs();
    expect(output).toContain('KEPT=kept');
    expect(output).not.toContain('p4ssword');
  });

  test('an aborted command that ignores SIGTERM has exited within the grace time of an abort', async () => {
    const stop = new AbortController();
    const result = await bash(
      { command: `trap '' TERM; echo $$ > pids; echo working; while :; do sleep 0.05; done` },
      { signal: stop.signal, onProgress: () => stop.abort() },
    );
    expect(result).toEqual({ output: 'working\nInterrupted by user', isError: true });
    expect((await pidsIn('pids')).filter(isAlive)).toEqual([]);
  });

  test('a fresh bash each time, comments and here-documents work', async () => {
    expect((await bash({ command: 'echo a # comment' })).output).toBe('a\n');
    expect((await bash({ command: 'cat <<X\nhi\nX\n[[ a == a ]] && echo bash' })).output).toBe('hi\nbash\n');
  });

  test('cwd follows the path policy and must be a directory when the command starts', async () => {
    await space.write('sub/a.txt', '');
    expect((await bash({ command: 'pwd', cwd: 'sub' })).output).toBe(`${space.path('sub')}\n`);
    expect(await bash({ command: 'pwd', cwd: 'sub/a.txt' })).toMatchObject({
      isError: true,
      output: expect.stringContaining('not a directory'),
    });
    expect(await bash({ command: 'pwd', cwd: 'gone' })).toMatchObject({
      isError: true,
      output: expect.stringContaining('does not exist'),
    });
    await expect(bash({ command: 'pwd', cwd: '..' })).rejects.toThrow('outside');
    const plan = await planTool(bashTool, space.environment, { command: 'pwd', cwd: 'later' });
    await symlink('/', space.path('later'));
    const context = {
      ...space.environment,
      toolCallId: 'c',
      turnId: 0,
      signal: new AbortController().signal,
      finish: () => [],
      tasks: tasksOf(space.environment.sessionDir),
      progress() {},
    };
    expect(await plan.run(context)).toMatchObject({ isError: true });
  });

  test('a time-out kills the whole tree, also processes that ignore SIGTERM', async () => {
    const command = `trap '' TERM; (trap '' TERM; echo $BASHPID >> pids; while :; do sleep 0.05; done) & echo $$ >> pids; sh -c 'echo $$ >> pids; exec sleep 30' & echo started; wait; sleep 30`;
    const result = await bash({ command, timeout: 1 }, { settings: { killGraceMs: 200 } });
    expect(result.isError).toBe(true);
    expect(result.output).toBe('started\nThe command was killed after its time limit of 1 s.\nExit code: 137');
    const pids = await pidsIn('pids');
    expect(pids).toHaveLength(3);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  test('children that outlive the killed shell have exited when the result arrives', async () => {
    const command = `(trap '' TERM; echo $BASHPID >> pids; while :; do sleep 0.05; done) & sleep 30`;
    const result = await bash({ command, timeout: 1 }, { settings: { killGraceMs: 300 } });
    expect(result.output).toMatch(/Exit code: 143$/);
    expect((await pidsIn('pids')).filter(isAlive)).toEqual([]);
  });

  test('a command that ends on SIGTERM is not killed harder', async () => {
    const result = await bash({ command: `trap 'echo bye; exit 0' TERM; sleep 30 & wait`, timeout: 1 });
    expect(result.output).toBe('bye\nThe command was killed after its time limit of 1 s.\nExit code: 0');
    expect(result.isError).toBe(true);
  });

  test('an abort kills and keeps the output so far', async () => {
    const stop = new AbortController();
    const result = await bash(
      { command: 'echo $$ > pids; echo working; sleep 30; echo never' },
      { signal: stop.signal, onProgress: () => stop.abort() },
    );
    expect(result).toEqual({ output: 'working\nInterrupted by user', isError: true });
    expect((await pidsIn('pids')).filter(isAlive)).toEqual([]);
  });

  test('an abort before the start runs nothing', async () => {
    expect(await bash({ command: 'touch ran' }, { signal: AbortSignal.abort() })).toMatchObject({
      output: 'Interrupted by user',
    });
    await expect(readFile(space.path('ran'))).rejects.toThrow('ENOENT');
  });

  test('neither waits for background processes nor stops them', async () => {
    const command =
      '(echo $BASHPID > pids; until [ -e go ]; do sleep 0.02; done; head -c 300000 /dev/zero; echo survived > after; exec sleep 30) & echo now';
    const result = await bash({ command });
    expect(result).toEqual({ output: 'now\n' });
    const pid = await until(async () => (await pidsIn('pids'))[0]);
    try {
      await space.write('go', '');
      // It wrote more than the capacity of a pipe, which must neither block nor kill it.
      await eventually(async () => expect(await readFile(space.path('after'), 'utf8')).toBe('survived\n'));
      expect(isAlive(pid)).toBe(true);
      expect(result.output).toBe('now\n');
    } finally {
      process.kill(pid, 'SIGKILL');
    }
  });

  test('characters are never split between progress chunks', async () => {
    const texts: string[] = [];
    const command = String.raw`printf '\xf0\x9f'; sleep 0.1; printf '\x98\x80|\xc3'; sleep 0.1; printf '\xa9'`;
    const result = await bash({ command }, { onProgress: ({ text = '' }) => void texts.push(text) });
    expect(result.output).toBe('😀|é');
    expect(texts).toEqual(['😀|', 'é']);
  });

  test('long output is cut and stored in a file; its last line is still the exit code', async () => {
    const result = await bash({ command: 'yes 123456789 | head -n 20000; exit 7' });
    expect(result.truncated).toBe(true);
    expect(result.output.length).toBeLessThan(51_000);
    expect(result.output).toMatch(/\[\.\.\.truncated\]\nOutput was cut to 50000 characters\.\n\[Full output saved\]\n/);
    expect(result.output).toMatch(/\noutput_size_bytes: 200000\n.*\nExit code: 7$/);
    const [, path = ''] = /^output_path: (.+)$/m.exec(result.output) ?? [];
    expect(await readFile(path, 'utf8')).toBe('123456789\n'.repeat(20_000));
  });

  test('too much output kills the command', async () => {
    const result = await bash({ command: 'echo $$ > pids; yes', timeout: 60 });
    expect(result.isError).toBe(true);
    expect(result.output).toContain('wrote more than 16777216 bytes');
    expect((await pidsIn('pids')).filter(isAlive)).toEqual([]);
  });

  test('a command that cannot be started is an error result', async () => {
    expect(await bash({ command: `echo ${'x'.repeat(3_000_000)}` })).toMatchObject({
      isError: true,
      output: expect.stringContaining('could not be started'),
    });
    expect(await bash({ command: 'echo \0' })).toMatchObject({ isError: true });
    await rm(space.environment.cwd, { recursive: true });
    expect(await bash({ command: 'true' })).toMatchObject({ isError: true });
  });

  test.each([
    [{ command: '' }, 'command'],
    [{ command: 'x', timeout: 301 }, 'timeout'],
    [{ command: 'x', timeout: 0 }, 'timeout'],
    [{ command: 'x', timeout: 86_401, run_in_background: true }, 'timeout'],
    [{ command: 'x', disable_timeout: true }, 'disable_timeout'],
    [{ command: 'x', run_in_background: true, description: ' ' }, 'description'],
  ])('rejects %o', async (args, field) => {
    await expect(bash(args)).rejects.toThrow(field);
  });

  test('the background is refused while its tools are not active', async () => {
    const args = { command: 'x', description: 'Run x', run_in_background: true, timeout: 86_400 };
    await expect(bash(args)).rejects.toThrow('TaskList, TaskOutput, TaskStop');
  });

  describe('in the background', () => {
    const activeTools = new Set(['TaskList', 'TaskOutput', 'TaskStop']);

    /** Starts the command and returns its task after the result of the call. */
    async function start(command: string, options: RunOptions = {}) {
      const tasks = tasksOf(space.environment.sessionDir, { killGraceMs: 200, ...options.settings });
      const args = { command, description: 'Do it', run_in_background: true };
      const environment = { ...space.environment, activeTools };
      const result = await runTool(bashTool, environment, args, { ...options, tasks });
      const [task = expect.unreachable(result.output)] = tasks.all();
      return { tasks, task, result, id: task.info().taskId };
    }
    const byUser = { status: 'killed', by: 'user', reason: 'stopped by the user' } as const;

    test('both streams go straight into the file, in their order', async () => {
      const { task } = await start('echo out; echo err >&2; echo out2; exit 2');
      await task.ended;
      expect(task.info()).toMatchObject({ status: 'failed', exitCode: 2, detached: true, timeoutMs: 600_000 });
      expect(await readFile(task.output.path, 'utf8')).toBe('out\nerr\nout2\n');
    });

    test('a flood is killed immediately, also one that ignores SIGTERM, and its file is cut', async () => {
      const { task } = await start(`trap '' TERM; echo $$ > pids; yes`);
      await task.ended;
      expect(task.info()).toMatchObject({
        status: 'killed',
        stopReason: 'more than 16777216 bytes of output',
        exitCode: -1,
      });
      expect((await pidsIn('pids')).filter(isAlive)).toEqual([]);
      expect((await stat(task.output.path)).size).toBe(16 * 1024 * 1024);
    });

    test('a command that ignores SIGTERM is killed with its group after the grace time', async () => {
      const command = `trap '' TERM; (trap '' TERM; echo $BASHPID >> pids; while :; do sleep 0.05; done) & echo $$ >> pids; echo ready; wait; sleep 30`;
      const { tasks, task, id } = await start(command);
      await eventually(async () => expect(await task.output.tail(100)).toBe('ready\n'));
      await tasks.stop(id, byUser);
      expect(task.info()).toMatchObject({ status: 'killed', exitCode: -1 });
      const pids = await pidsIn('pids');
      expect(pids).toHaveLength(2);
      expect(pids.filter(isAlive)).toEqual([]);
    });

    test('a stopped one has a grace time of 5 s, unless configured; a flood has none', async () => {
      const graces: number[] = [];
      const { runtime } = space.environment;
      const spawn: typeof runtime.spawn = async (request) => {
        const running = await runtime.spawn(request);
        const stop = (graceMs: number) => {
          graces.push(graceMs);
          running.stop(0);
        };
        return { ...running, stop };
      };
      const environment = { ...space.environment, activeTools, runtime: { ...runtime, spawn } };
      const settings = {};
      for (const [command, more] of [
        ['sleep 30', settings],
        ['sleep 30', { killGraceMs: 700 }],
        ['yes', settings],
      ] as const) {
        const tasks = tasksOf(space.environment.sessionDir, more);
        await runTool(bashTool, environment, { command, description: 'Do it', run_in_background: true }, { tasks });
        const [task = expect.unreachable()] = tasks.all();
        if (command !== 'yes') await tasks.stop(task.info().taskId, byUser);
        await task.ended;
      }
      expect(graces).toEqual([5000, 700, 0]);
    });

    test('a process that it forks twice is in its group and is stopped with it', async () => {
      const command = `( (echo $BASHPID > pids; trap '' HUP; while :; do sleep 0.05; done) & ) ; echo ready; sleep 30`;
      const { tasks, task, id } = await start(command);
      await eventually(async () => expect(await task.output.tail(100)).toBe('ready\n'));
      const pid = await until(async () => (await pidsIn('pids'))[0]);
      await tasks.stop(id, byUser);
      await until(() => !isAlive(pid));
    });

    test('a process that leaves the group is not waited for, and its later output is ignored', async () => {
      const command = `setsid sh -c 'echo $$ > pids; until test -e late; do sleep 0.01; done; echo late; touch done; sleep 30' & until test -e pids; do sleep 0.01; done; echo over`;
      const { task } = await start(command);
      await task.ended;
      expect(task.info().status).toBe('completed');
      await space.write('late', '');
      await eventually(async () => readFile(space.path('done')));
      expect(await task.output.tail(100)).toBe('over\n');
      const [pid = 0] = await pidsIn('pids');
      process.kill(pid, 'SIGKILL');
    });

    test('no process is started if the file cannot be created', async () => {
      await space.write('x', '');
      await symlink(space.environment.cwd, join(space.environment.sessionDir, 'agents'));
      const tasks = tasksOf(space.environment.sessionDir);
      const args = { command: 'touch ran', description: 'Do it', run_in_background: true };
      const environment = { ...space.environment, activeTools };
      const result = await runTool(bashTool, environment, args, { tasks });
      expect(result).toMatchObject({ isError: true, output: expect.stringContaining('not what it was made as') });
      expect(tasks.all()).toEqual([]);
      await expect(readFile(space.path('ran'))).rejects.toThrow('ENOENT');
    });

    test('it continues after the exit of a server that is configured so', async () => {
      const { tasks } = await start('echo $$ > pids; until test -e go; do sleep 0.01; done; echo lived > lived', {
        settings: { keepAliveOnExit: true },
      });
      await eventually(() => pidsIn('pids'));
      await tasks.close('exit');
      await space.write('go', '');
      await eventually(async () => expect(await readFile(space.path('lived'), 'utf8')).toBe('lived\n'));
    });
  });

  test('a moved command continues where the call left it', async () => {
    const tasks = tasksOf(space.environment.sessionDir);
    const finished: ToolResult[] = [];
    const result = await runTool(
      bashTool,
      space.environment,
      { command: 'echo one; until test -e go; do sleep 0.01; done; echo two; true' },
      {
        tasks,
        finish: (given) => void finished.push(given),
        onProgress: () => tasks.detach(tasks.all()[0]?.info().taskId ?? ''),
      },
    );
    expect(finished).toEqual([result]);
    expect(result.output).toMatch(/\ndetached_by_user: true\n(.+\n)+\nforeground_output:\none\n$/);
    await space.write('go', '');
    const [task] = tasks.all();
    await task?.ended;
    expect(task?.info()).toMatchObject({
      status: 'completed',
      description: expect.stringMatching(/^Bash: echo one; .{50}…$/),
    });
    expect(await readFile(task?.output.path ?? '', 'utf8')).toBe('one\ntwo\n');
  });

  test('plan', async () => {
    const command = `echo ${'x'.repeat(60)}`;
    expect(await planTool(bashTool, space.environment, { command, cwd: './', description: 'Say x' })).toMatchObject({
      accesses: [{ kind: 'all' }],
      label: `Running: ${command.slice(0, 50)}…`,
      display: { kind: 'command', command, cwd: './', description: 'Say x', language: 'bash' },
      subject: { text: command, match: 'command' },
    });
    expect((await planTool(bashTool, space.environment, { command: 'ls' })).display).toEqual({
      kind: 'command',
      command: 'ls',
      cwd: space.environment.cwd,
      language: 'bash',
    });
  });
});
