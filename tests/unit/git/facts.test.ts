import { access, chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createGitFacts, FACTS_WAIT_MS, OPEN_LIMIT_MS } from '#server/git/facts.ts';
import { createGit } from '#server/git/git.ts';
import { openWorkTree } from '#server/git/work-tree.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { createRepository } from '#support/git-repository.ts';
import { manualClock } from '#support/manual-clock.ts';
import { eventually } from '#support/patience.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const NONE = { branch: null, pull_request: null };
const noRequests = { find: async () => null };

async function repositoryOn(branch: string) {
  const repository = await createRepository(await temporaryHome());
  await repository.git('checkout', '-q', '-b', branch);
  return repository;
}

/** The facts of real repositories; `opens` counts the lookups of each directory. */
function realFacts(env?: NodeJS.ProcessEnv) {
  const clock = manualClock();
  const runtime = createLocalRuntime(env ? { env: () => env } : {});
  const opens: string[] = [];
  const { pullRequests } = createGit({ runtime, clock });
  const facts = createGitFacts({
    open(directory, signal) {
      opens.push(directory);
      return openWorkTree(directory, { runtime, signal });
    },
    pullRequests,
    clock,
  });
  onTestFinished(facts.close);
  const one = async (directory: string) => (await facts.read([directory])).get(directory);
  return { clock, facts, opens, one };
}

it('has the branch, also before its first commit, and null without one', async () => {
  const repository = await repositoryOn('feature/x');
  const { one, clock } = realFacts({ PATH: process.env.PATH });
  expect(await one(repository.root)).toEqual({ branch: 'feature/x', pull_request: null });
  // A tag of the same name does not change how the branch is named.
  await repository.write({ a: 'a' });
  await repository.commit();
  await repository.git('tag', 'feature/x');
  clock.advance(60_000);
  expect(await one(repository.root)).toMatchObject({ branch: 'feature/x' });
  await repository.git('checkout', '-q', '--detach');
  clock.advance(60_000);
  expect(await one(repository.root)).toEqual(NONE);
  expect(await one(await temporaryHome())).toEqual(NONE);
  expect(await one('/nonexistent/directory')).toEqual(NONE);
});

it('is null without git', async () => {
  const { root } = await repositoryOn('main2');
  expect(await realFacts({ PATH: '/nonexistent' }).one(root)).toEqual(NONE);
});

it.each([
  ['OPEN', false, 'open'],
  ['OPEN', true, 'open'],
  ['MERGED', false, 'merged'],
  ['CLOSED', true, 'closed'],
])('a pull request that gh calls %s, draft %s, is %s', async (state, isDraft, expected) => {
  const bin = await temporaryHome();
  const reply = { number: 7, url: 'https://example.com/7', state, isDraft };
  await writeFile(join(bin, 'gh'), `#!/bin/sh\necho '${JSON.stringify(reply)}'\n`);
  await chmod(join(bin, 'gh'), 0o755);
  const { root } = await repositoryOn('work');
  expect(await realFacts({ PATH: `${bin}${delimiter}${process.env.PATH}` }).one(root)).toEqual({
    branch: 'work',
    pull_request: { number: 7, url: 'https://example.com/7', state: expected },
  });
});

it('looks up each directory a single time in 60 s, failures too', async () => {
  const { root } = await repositoryOn('work');
  const other = await temporaryHome();
  const { facts, opens, clock } = realFacts();
  const read = () => facts.read([root, other, root]);
  const [first] = await Promise.all([read(), read()]);
  expect([...first.values()]).toEqual([{ branch: 'work', pull_request: null }, NONE]);
  clock.advance(59_999);
  await read();
  expect(opens.toSorted()).toEqual([root, other].toSorted());
  clock.advance(1);
  await read();
  expect(opens).toHaveLength(4);
});

/** Lookups that the test answers: `hang` names directories that never open. */
function slowFacts(isHanging: (directory: string) => boolean) {
  const clock = manualClock();
  const opens: string[] = [];
  let running = 0;
  let most = 0;
  const release: (() => void)[] = [];
  const facts = createGitFacts({
    async open(directory) {
      opens.push(directory);
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => {
        if (!isHanging(directory)) setImmediate(resolve);
        else release.push(resolve);
      });
      running -= 1;
      throw new Error('no repository');
    },
    pullRequests: noRequests,
    clock,
  });
  return { clock, facts, opens, release, most: () => most };
}

const named = (name: string, count: number) => Array.from({ length: count }, (_, place) => `/${name}/${place}`);

it('looks up at most 8 directories at a time', async () => {
  const { facts, opens, most } = slowFacts(() => false);
  await facts.read(named('fast', 40));
  expect(opens).toHaveLength(40);
  expect(most()).toBe(8);
});

it('releases the slots of directories that hang, so that the others are in the same reply', async () => {
  const { clock, facts, opens, release } = slowFacts((directory) => directory.startsWith('/hanging'));
  const hanging = named('hanging', 7);
  const fast = named('fast', 20);
  // One slot is left.
  expect(await Promise.race([facts.read(fast), facts.read([...hanging, ...fast])])).toEqual(
    new Map(fast.map((directory) => [directory, NONE])),
  );
  const page = facts.read([...named('hanging', 8), '/last']);
  await eventually(() => expect(opens).toContain('/hanging/7'));
  expect(opens).not.toContain('/last');
  clock.advance(OPEN_LIMIT_MS);
  expect((await page).get('/last')).toEqual(NONE);
  expect(OPEN_LIMIT_MS).toBeLessThan(FACTS_WAIT_MS);
  // Each occupies a thread: none is looked up again before its call returns.
  clock.advance(60_000);
  const before = opens.length;
  await facts.read(['/hanging/0']);
  expect(opens).toHaveLength(before);
  for (const each of release) each();
  await eventually(async () => {
    clock.advance(60_000);
    const again = facts.read(['/hanging/0']);
    clock.advance(OPEN_LIMIT_MS);
    await again;
    expect(opens.length).toBeGreaterThan(before);
  });
});

it('replies after 3 s, and has the facts later', async () => {
  const { root } = await repositoryOn('work');
  const clock = manualClock();
  const runtime = createLocalRuntime();
  let answer = () => {};
  const asked = new Promise<void>((resolve) => (answer = resolve));
  const facts = createGitFacts({
    open: (directory, signal) => openWorkTree(directory, { runtime, signal }),
    pullRequests: {
      async find() {
        await asked;
        return null;
      },
    },
    clock,
  });
  const first = facts.read([root]);
  // Only the wait of the reader is left: the work tree is open.
  await eventually(() => expect(clock.waits()).toEqual([FACTS_WAIT_MS]));
  clock.advance(FACTS_WAIT_MS);
  expect((await first).get(root)).toEqual(NONE);
  answer();
  await eventually(async () => expect((await facts.read([root])).get(root)).toMatchObject({ branch: 'work' }));
});

it('starts nothing after it is closed', async () => {
  const { facts, opens } = slowFacts(() => false);
  facts.close();
  expect((await facts.read(['/a'])).get('/a')).toEqual(NONE);
  expect(opens).toEqual([]);
});

it('starts no program of the project: neither its git nor its gh', async () => {
  const repository = await repositoryOn('work');
  const bin = join(repository.root, 'node_modules/.bin');
  const trace = join(repository.root, 'trace');
  await mkdir(bin, { recursive: true });
  for (const name of ['git', 'gh']) await writeFile(join(bin, name), `#!/bin/sh\ntouch ${trace}\n`, { mode: 0o755 });
  const { one } = realFacts({ PATH: `${bin}${delimiter}${process.env.PATH}` });
  expect(await one(repository.root)).toMatchObject({ branch: 'work' });
  await expect(access(trace)).rejects.toThrow('ENOENT');
});
