import { describe, expect, test } from 'vitest';
import { exceededMemory } from '#server/processes/memory-limit.ts';
import { createSpawn, spawnGroup, type SpawnRequest } from '#server/processes/spawn.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const MIB = 1024 ** 2;

async function run(spawn: typeof spawnGroup, request: Partial<SpawnRequest>) {
  let output = '';
  const running = await spawn({
    file: '/bin/sh',
    args: [],
    cwd: await temporaryHome(),
    env: { PATH: process.env.PATH },
    onOutput: (_stream, chunk) => void (output += chunk.toString()),
    ...request,
  });
  const exitCode = await running.ended;
  return { output, exitCode, pid: running.pid };
}

/** Allocates 20 MiB every 50 ms up to its argument, then exits with 7. */
const ALLOCATING = `const kept = [];
setInterval(() => {
  kept.push(Buffer.alloc(20 * ${MIB}, 1));
  if (kept.length * 20 >= Number(process.argv[1])) process.exit(7);
}, 50);`;
const allocate = (mebibytes: number) => ({
  file: process.execPath,
  args: ['-e', ALLOCATING, String(mebibytes)],
  maxMemory: 300 * MIB,
});

describe.skipIf(process.platform === 'win32')('a program with a limit of memory', () => {
  test('has the limit and writes no core file; process id, arguments and exit code are the program’s', async () => {
    const script = 'ulimit -d; ulimit -c; echo $$; printf "<%s>" "$@"; exit 7';
    const args = ['-c', script, 'sh', '', 'a b', '$HOME', "'", '-c'];
    const { output, exitCode, pid } = await run(spawnGroup, { args, maxMemory: 64 * MIB });
    expect(output).toBe(`65536\n0\n${pid}\n<><a b><$HOME><'><-c>`);
    expect(exitCode).toBe(7);
  });

  test('keeps a lower limit of the user', async () => {
    const program = { file: '/bin/sh', args: ['-c', 'ulimit -d'], maxMemory: 64 * MIB };
    const outer = `ulimit -d 32768; exec "$0" "$@"`;
    const spawn: typeof spawnGroup = (request) =>
      spawnGroup({ ...request, args: ['-c', outer, '/bin/sh', ...request.args] });
    expect(await run(spawn, program)).toMatchObject({ output: '32768\n' });
    const within = `ulimit -d 65536 2>/dev/null; ulimit -d`;
    expect(await run(spawn, { ...program, args: ['-c', within] })).toMatchObject({ output: '32768\n' });
  });

  test('a program that does not exist exits with the code of the shell', async () => {
    const { exitCode, output } = await run(spawnGroup, { file: '/no/such/program', maxMemory: 64 * MIB });
    expect([exitCode, output]).toEqual([127, expect.stringContaining('/no/such/program')]);
  });
});

describe.skipIf(process.platform === 'win32')('where ulimit is ignored', () => {
  test('a program above its limit is killed, as its exit code shows', async () => {
    const { exitCode } = await run(createSpawn('darwin'), allocate(Infinity));
    expect(exceededMemory(exitCode)).toBe(true);
  });

  test('memory of its children is counted', async () => {
    const args = ['-c', '"$0" "$@" & wait', process.execPath, ...allocate(Infinity).args];
    const { exitCode } = await run(createSpawn('darwin'), { args, maxMemory: 300 * MIB });
    expect(exceededMemory(exitCode)).toBe(true);
  });

  test('a program below its limit exits normally', async () => {
    const { exitCode } = await run(createSpawn('darwin'), allocate(100));
    expect(exitCode).toBe(7);
    expect(exceededMemory(exitCode)).toBe(false);
  });
});
