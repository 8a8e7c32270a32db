/** No line throws, and none exceeds its time limit, however it nests. */
import { describe, expect, test } from 'vitest';
import { createCommandLineReader } from '#server/permissions/command-line/command-line-reader.ts';

const UNITS = [
  'a=(',
  'a|',
  'a;',
  'a\n',
  'a&&',
  '$(',
  '`',
  '"$(',
  "'",
  '"',
  '(',
  '{ ',
  '((',
  '$((',
  '${',
  '${a:-',
  '<<a\n',
  '<<<',
  '<(',
  '>a ',
  'if ',
  'case a in ',
  'for a in ',
  'f()',
  '[[ ',
  '\\\n',
  '\\',
  "$'",
  '$"',
  '!',
  '! ',
  '# ',
  '*',
  '{a,',
  '[',
  'A=1 ',
  'CI=1 ',
  'CI=',
  '%',
  'sudo ',
  'sudo --a a ',
  'su a ',
  'git -c alias.a=! ',
  'watch ',
  'parallel ',
  'sh <<a\n',
  'sh <<<',
  'trap ',
  '|sh',
  'eval ',
  "sh -c '",
  'sh -c a;',
  'xargs ',
  'find -exec ',
  'é',
  '😀',
  '\ud800',
  '\u0000',
  'rm ',
];
const MAX_CPU_MS = 1000;

/** CPU time of the process, because the clock is meaningless on a busy machine. */
async function cpuMs(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

describe.each([9_999, 100_000])('of %i characters', (length) => {
  test.each(UNITS)('repeated %j', async (unit) => {
    const reader = createCommandLineReader();
    await reader.read('true');
    const line = unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
    let reading: Awaited<ReturnType<typeof reader.read>> | undefined;
    const spent = await cpuMs(async () => (reading = await reader.read(line)));
    expect(spent).toBeLessThan(MAX_CPU_MS);
    expect(reading?.guarded[0]).toBe(line);
    if (length > 10_000) expect(reading).toMatchObject({ plain: false, commands: [], unreadable: true });
  });
});
