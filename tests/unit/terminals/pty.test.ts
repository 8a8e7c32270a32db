import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn } from 'node-pty';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { spawnGroup } from '#server/processes/spawn.ts';
import { drainBeforeDestroy, loadPty, type Pty, type PtyExit } from '#server/terminals/pty.ts';

async function open(file: string, env: NodeJS.ProcessEnv = {}): Promise<Pty> {
  const openPty = await loadPty();
  return openPty({ file, cwd: '/', env: { PATH: process.env.PATH, ...env }, cols: 80, rows: 24 });
}
const exitOf = (pty: Pty) => new Promise<PtyExit>((resolve) => pty.onExit(resolve));

it('writes as much as the terminal accepts, and never blocks', async () => {
  const pty = await open('sh');
  let shown = '';
  pty.onOutput((text) => (shown += text));
  pty.write(Buffer.from('stty -echo; echo rea$((0))dy; sleep 60\n'));
  await expect.poll(() => shown).toMatch(/rea0dy/);
  const paste = Buffer.from('x\n'.repeat(500_000));
  let written = 0;
  for (let taken = pty.write(paste); taken > 0; taken = pty.write(paste.subarray(written))) written += taken;
  expect(written).toBeLessThan(paste.length);
  const exited = exitOf(pty);
  process.kill(-pty.pid, 'SIGKILL');
  expect(await exited).toEqual({ exitCode: 0, signal: 9 });
  // The descriptor may belong to another file by now.
  expect(pty.write(paste)).toBe(0);
  pty.resize(10, 10);
});

it.runIf(process.platform === 'linux')('is not inherited by the commands of a session', async () => {
  const ptys = [await open('cat'), await open('cat')];
  let listed = '';
  const child = await spawnGroup({
    file: 'ls',
    args: ['-l', '/proc/self/fd'],
    cwd: '/',
    env: process.env,
    onOutput: (_stream, chunk) => void (listed += chunk.toString()),
  });
  expect(await child.ended).toBe(0);
  expect(listed).toContain('/dev/null');
  expect(listed).not.toMatch(/ptmx|pts/);
  const exits = ptys.map(exitOf);
  for (const { pid } of ptys) process.kill(-pid, 'SIGKILL');
  await Promise.all(exits);
});

it.runIf(process.platform === 'linux')(
  'is not inherited by another terminal, which runs only its program',
  async () => {
    const first = await open('cat');
    const folder = await mkdtemp(join(tmpdir(), 'service-code-pty-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const startup = join(folder, 'startup');
    await writeFile(startup, 'echo of BASH_ENV');
    const second = await open('sh', { BASH_ENV: startup, 'BASH_FUNC_exec%%': '() { echo of a function; }' });
    let shown = '';
    second.onOutput((text) => (shown += text));
    second.write(Buffer.from('ls -l /proc/$$/fd; ps -o args= -p $$; echo e$((0))nd\n'));
    await expect.poll(() => shown).toMatch(/e0nd/);
    expect(shown).toMatch(/\/dev\/pts\/[\s\S]*\nsh\r\n/);
    expect(shown).not.toMatch(/ptmx|of BASH_ENV|of a function/);
    const exits = [first, second].map(exitOf);
    for (const { pid } of [first, second]) process.kill(-pid, 'SIGKILL');
    await Promise.all(exits);
  },
);

it.each(['with', 'without'])('a program that cannot be executed exits with 1, %s another terminal', async (other) => {
  const ptys = other === 'with' ? [await open('cat')] : [];
  expect(await exitOf(await open('/nonexistent/program'))).toMatchObject({ exitCode: 1 });
  const exits = ptys.map(exitOf);
  for (const { pid } of ptys) process.kill(-pid, 'SIGKILL');
  await Promise.all(exits);
});

const descriptorsSchema = z.object({ fd: z.number(), _socket: z.instanceof(Socket) });
const readStopSchema = z.custom<() => void>((value) => typeof value === 'function');

it('keeps the last output of a program that was not read when the socket is destroyed', async () => {
  const pty = spawn('sh', ['-c', 'sleep 0.2; printf "last words"'], {});
  const { fd, _socket: socket } = descriptorsSchema.parse(pty);
  drainBeforeDestroy({ fd, socket });
  let text = '';
  pty.onData((chunk) => (text += chunk));
  const exited = new Promise((resolve) => pty.onExit(resolve));
  // As if the thread were busy from the first read to the end.
  await new Promise((resolve) => setImmediate(resolve));
  const handle: unknown = Reflect.get(socket, '_handle');
  if (!(handle instanceof Object)) throw new Error('the socket has no handle');
  readStopSchema.parse(Reflect.get(handle, 'readStop')).call(handle);
  await exited;
  expect(text).toBe('last words');
});

it('ends a terminal into which a program in the background writes without an end', async () => {
  const pty = await open('sh');
  const exited = exitOf(pty);
  pty.write(Buffer.from('(trap "" HUP; yes) & exit 3\n'));
  expect(await exited).toEqual({ exitCode: 3, signal: 0 });
});
