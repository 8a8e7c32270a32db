import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { groupRuns } from '#server/processes/process-group.ts';
import { runCommand, type CommandRequest } from '#server/processes/run-command.ts';
import { spawnGroup } from '#server/processes/spawn.ts';

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'service-code-run-'));
});
afterEach(() => rm(cwd, { recursive: true }));

/** Ignores SIGTERM, prints when it is ready, and runs until it is killed. */
const STUBBORN = `trap '' TERM; echo $$ > pid; echo ready; while :; do sleep 0.05; done`;

function run(script: string, more: Partial<CommandRequest> = {}) {
  const request: CommandRequest = {
    file: '/bin/sh',
    args: ['-c', script],
    cwd,
    env: { PATH: process.env.PATH },
    signal: new AbortController().signal,
    timeoutMs: 60_000,
    maxOutputBytes: 1_000_000,
    graceMs: () => 60_000,
    onText: () => undefined,
    ...more,
  };
  return runCommand(spawnGroup, request);
}

const groupId = async () => Number(await readFile(join(cwd, 'pid'), 'utf8'));

describe('a stopped command', () => {
  test.each<[string, (stop: AbortController) => Partial<CommandRequest>]>([
    ['aborted', (stop) => ({ signal: stop.signal, onText: () => stop.abort() })],
    ['timeout', () => ({ timeoutMs: 300 })],
    ['output', () => ({ maxOutputBytes: 1 })],
  ])('%s: its group has exited at the end; the grace time is the reason’s', async (reason, limits) => {
    const asked: string[] = [];
    const graceMs = (why: string) => {
      asked.push(why);
      return 100;
    };
    const end = await run(STUBBORN, { graceMs, ...limits(new AbortController()) });
    expect(end).toEqual({ exitCode: 137, stopped: reason });
    expect(asked[0]).toBe(reason);
    expect(await groupRuns(await groupId())).toBe(false);
  });

  test('an abort shortens the grace time of an earlier timeout', async () => {
    const stop = new AbortController();
    const graceMs = (reason: string) => {
      if (reason === 'timeout') setTimeout(() => stop.abort(), 50);
      return reason === 'timeout' ? 60_000 : 100;
    };
    const end = await run(STUBBORN, { signal: stop.signal, timeoutMs: 300, graceMs });
    expect(end).toEqual({ exitCode: 137, stopped: 'timeout' });
  });

  test('an abort before the start leaves no process running', async () => {
    const end = await run('sleep 60', { signal: AbortSignal.abort(), graceMs: () => 0 });
    expect(end).toEqual({ exitCode: 137, stopped: 'aborted' });
  });
});

test('a command that exits without being stopped', async () => {
  const texts: string[] = [];
  const end = await run('echo out; echo err >&2; exit 3', {
    onText: (stream, text) => texts.push(`${stream} ${text}`),
  });
  expect(end).toEqual({ exitCode: 3, stopped: undefined });
  expect(texts.toSorted()).toEqual(['stderr err\n', 'stdout out\n']);
});

test('an incomplete character at the end is reported too', async () => {
  let told = '';
  await run(String.raw`printf 'a\303'`, { onText: (_stream, text) => (told += text) });
  expect(told).toBe('a\uFFFD');
});

test('a program that does not start is an error', async () => {
  await expect(run('true', { file: '/no/such/program' })).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(run('true', { cwd: '/no/such/folder' })).rejects.toThrow('ENOENT');
});
