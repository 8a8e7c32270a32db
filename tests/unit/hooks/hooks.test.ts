/** Hooks as commands: selection, input, and interpretation of their exit. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createHooks, type HookCall, type HookEntry } from '#server/hooks/hooks.ts';
import { hookReply } from '#server/hooks/reply.ts';
import { HOOK_PIPE_BYTES, runHook } from '#server/hooks/run-hook.ts';
import { groupRuns } from '#server/processes/process-group.ts';
import { spawnGroup } from '#server/processes/spawn.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';

const folder = useTemporaryFolder();

const never = new AbortController().signal;
const inFolder = (name: string) => join(folder.path, name);

function hooksOf(...entries: (Partial<HookEntry> & { command: string })[]) {
  const warnings: string[] = [];
  const hooks = createHooks({
    entries: () => entries.map((entry) => ({ event: 'PreToolUse', ...entry })),
    environment: () => ({ PATH: process.env.PATH, HOME: folder.path, SERVICE_CODE_PASSWORD: 'secret' }),
    spawn: spawnGroup,
    log: { warn: (message) => void warnings.push(message) },
  });
  const run = (call: Partial<HookCall> = {}) =>
    hooks.run({ event: 'PreToolUse', match: 'Bash', cwd: folder.path, input: { a: 1 }, signal: never, ...call });
  return { hooks, run, warnings };
}

const command = (text: string, signal = never, timeoutMs = 10_000) =>
  runHook(spawnGroup, { command: text, cwd: folder.path, env: process.env, input: '{}', timeoutMs, signal });

describe('hooks run for an event', () => {
  it.each([
    [undefined, true],
    ['', true],
    ['as', true],
    ['^Bash$', true],
    ['^bash$', false],
    ['(', false],
    ['Read|Bash', true],
  ])('if their matcher %j matches', async (matcher, runs) => {
    const { hooks, run } = hooksOf({ command: 'echo ran', ...(matcher === undefined ? {} : { matcher }) });
    expect(hooks.wanted('PreToolUse', 'Bash')).toBe(runs);
    expect(await run()).toEqual({ texts: runs ? ['ran'] : [] });
  });

  it('if they are configured for it', async () => {
    const { hooks, run } = hooksOf({ event: 'Stop', command: 'echo ran' });
    expect(hooks.wanted('PreToolUse')).toBe(false);
    expect(await run()).toEqual({ texts: [] });
  });

  it('a single time for the same command in the same directory', async () => {
    const other = inFolder('other');
    await mkdir(other);
    const same = { command: 'echo x >> runs; pwd' };
    const { run } = hooksOf(same, { ...same, cwd: folder.path }, { ...same, cwd: other });
    expect(await run()).toEqual({ texts: [folder.path, other] });
    expect(await readFile(inFolder('runs'), 'utf8')).toBe('x\n');
  });

  it('concurrently', async () => {
    // Each waits for the other.
    const meet = (mine: string, theirs: string) => `touch ${mine}; until test -e ${theirs}; do sleep 0.01; done`;
    const { run } = hooksOf({ command: meet('a', 'b') }, { command: meet('b', 'a') });
    expect(await run()).toEqual({ texts: [] });
  });
});

describe('a hook receives', () => {
  it('the input, its own directory and variables, and no secret', async () => {
    const own = inFolder('plugin');
    await mkdir(own);
    const { run } = hooksOf({
      command: 'cat; echo; pwd; echo $ROOT-$SERVICE_CODE_PASSWORD-$PWD',
      cwd: own,
      env: { ROOT: '/plugin' },
    });
    expect(await run()).toEqual({ texts: [`{"a":1}\n${own}\n/plugin--${own}`] });
  });

  it("no output of the user's start-up files", async () => {
    await writeFile(inFolder('.bashrc'), 'echo of the start-up file');
    await writeFile(inFolder('.profile'), 'echo of the start-up file');
    const { run } = hooksOf({ command: 'echo ran' });
    expect(await run()).toEqual({ texts: ['ran'] });
  });

  it('an input, even if it does not read it', async () => {
    const { run } = hooksOf({ command: 'exec <&-; echo ran' });
    expect(await run({ input: { long: 'x'.repeat(4_000_000) } })).toEqual({ texts: ['ran'] });
  });
});

describe('a command', () => {
  it('may write more than the limit of a pipe', async () => {
    const bytes = 3 * HOOK_PIPE_BYTES;
    const end = await command(`head -c ${bytes} /dev/zero; head -c ${bytes} /dev/zero >&2; exit 3`);
    expect(end).toMatchObject({ exitCode: 3, stopped: undefined });
    expect([end.stdout.length, end.stderr.length]).toEqual([HOOK_PIPE_BYTES, HOOK_PIPE_BYTES]);
  });

  it.each([
    ['that hangs', 'sleep 60 & echo $$ > pid; wait'],
    ['that ignores SIGTERM', `trap '' TERM; echo $$ > pid; while :; do sleep 0.2; done`],
    ['that floods', 'echo $$ > pid; yes'],
  ])('%s exits at its time-out with all its child processes', async (_what, text) => {
    const begin = performance.now();
    expect(await command(text, never, 300)).toMatchObject({ stopped: 'timeout' });
    expect(performance.now() - begin).toBeLessThan(50_000);
    expect(await groupRuns(Number(await readFile(inFolder('pid'), 'utf8')))).toBe(false);
  });

  it('is killed by an abort, also before its start', async () => {
    const controller = new AbortController();
    const running = command(`trap '' TERM; while :; do sleep 0.2; done`, controller.signal);
    controller.abort();
    expect(await running).toMatchObject({ stopped: 'aborted' });
    await expect(command('true', controller.signal)).rejects.toThrow('aborted');
  });
});

describe('reply', () => {
  const end = { exitCode: 0, stopped: undefined, stdout: '', stderr: '' };
  const json = (reply: unknown) => ({ stdout: JSON.stringify(reply) });
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  it.each([
    ['nothing', {}, {}],
    ['a text', { stdout: ' hello \n' }, { text: 'hello' }],
    ['a message', json({ message: 'hello' }), { text: 'hello' }],
    ['a message of its output', json({ hookSpecificOutput: { message: 'hello' } }), { text: 'hello' }],
    ['a reply without a message', json({ other: 1 }), {}],
    ['JSON that is no object', json(['x']), { text: '["x"]' }],
    ['JSON of 200 levels', { stdout: `{"message":"m","x":${nested(199)}}` }, { text: 'm' }],
    ['JSON of 201 levels, which is a text', { stdout: `{"x":${nested(200)}}` }, { text: `{"x":${nested(200)}}` }],
    ['allow', json({ hookSpecificOutput: { permissionDecision: 'allow' } }), {}],
    ['deny', json({ hookSpecificOutput: { permissionDecision: 'deny' } }), { blocked: 'blocked by a hook' }],
    [
      'deny beside members of a wrong type',
      json({
        message: 1,
        hookSpecificOutput: { message: {}, permissionDecision: 'deny', permissionDecisionReason: [] },
      }),
      { blocked: 'blocked by a hook' },
    ],
    ['exit code 2', { exitCode: 2, stderr: ' no\n', stdout: 'x' }, { blocked: 'no' }],
    ['exit code 2 without a reason', { exitCode: 2 }, { blocked: 'blocked by a hook' }],
    ['exit code 1', { exitCode: 1, stdout: 'x', stderr: 'x' }, {}],
    ['a time-out', { exitCode: 2, stopped: 'timeout' as const, stderr: 'x' }, {}],
  ])('%s', (_what, given, reply) => {
    expect(hookReply({ ...end, ...given })).toEqual(reply);
  });
});

describe('failures', () => {
  it('allow: no such directory', async () => {
    const { run, warnings } = hooksOf({ command: 'exit 2', cwd: inFolder('missing') });
    expect(await run()).toEqual({ texts: [] });
    expect(warnings).toEqual(['a hook could not be run']);
  });

  it('do not affect the replies of other hooks', async () => {
    const { run } = hooksOf(
      { command: 'exit 1' },
      { command: 'echo first >&2; exit 2' },
      { command: 'echo second >&2; exit 2' },
    );
    expect(await run()).toEqual({ blocked: 'first', texts: [] });
  });
});
