/** Reading many skills does not hold the event loop, and a look without changes is cheap. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { createSkills, type Skills } from '#server/skills/skills.ts';
import { putFile } from '#support/files.ts';
import { openProjects } from '#support/projects.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';
import { cpuUs } from '#support/stalls.ts';

const folder = useTemporaryFolder({ inMemory: true });

/** Skills in the user's folder, with further lines of front matter. */
async function openSkills(count: number, lines = ''): Promise<Skills> {
  const base = folder.path;
  const body = 'Some text of the body.\n'.repeat(150);
  await Promise.all(
    Array.from({ length: count }, (_, number) =>
      putFile(
        join(base, 'home/skills', `s${number}`, 'SKILL.md'),
        `---\nname: s${number}\ndescription: ${'About this. '.repeat(15)}\n${lines}---\n${body}`,
      ),
    ),
  );
  return createSkills({
    files: createLocalRuntime(),
    home: join(base, 'home'),
    homeDirectory: () => join(base, 'person'),
    project: async () => ({ top: base }),
    admits: openProjects().admits,
    settings: () => ({ extraSkillDirs: [], mergeAllAvailableSkills: true, builtinProductSkills: false }),
    pluginFolders: () => [],
    log: { warn: () => undefined },
  });
}

/** CPU milliseconds of this thread in the longest turn of the event loop during the work, and in all of it. */
async function cpuOf(work: () => Promise<unknown>): Promise<{ longestTurn: number; all: number }> {
  const started = cpuUs();
  let [longest, last, runs] = [0, started, true];
  const tick = () => {
    const now = cpuUs();
    longest = Math.max(longest, now - last);
    last = now;
    if (runs) setImmediate(tick);
  };
  setImmediate(tick);
  await work();
  runs = false;
  tick();
  return { longestTurn: longest / 1000, all: (cpuUs() - started) / 1000 };
}

/** The least of several measurements: another program can only add to one. */
async function least(times: number, measure: () => Promise<number>): Promise<number> {
  let result = Number.POSITIVE_INFINITY;
  for (let time = 0; time < times; time += 1) result = Math.min(result, await measure());
  return result;
}

const keys = (count: number) => Array.from({ length: count }, (_, key) => `key${key}: some text\n`).join('');

it.each([
  ['200 skills', 200, 1],
  ['skills with as much front matter as is parsed', 32, 990],
])('the first look holds no turn of the event loop for 50 ms: %s', async (_what, count, lines) => {
  await import('yaml');
  const longest = await least(3, async () => {
    const skills = await openSkills(count, keys(lines));
    return (await cpuOf(() => skills.look(folder.path))).longestTurn;
  });
  expect(longest).toBeLessThan(50);
});

it('a look at 200 skills without changes needs less than 30 ms', async () => {
  const skills = await openSkills(200);
  const { skills: found } = await skills.look(folder.path);
  expect(found.size).toBe(200);
  expect(await least(10, async () => (await cpuOf(() => skills.look(folder.path))).all)).toBeLessThan(30);
});
