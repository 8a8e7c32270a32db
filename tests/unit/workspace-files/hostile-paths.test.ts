/** No path, however crafted, and no race leads a file action out of the work directory. */
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#server/clock.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { mapLimit } from '#server/async/map-limit.ts';
import type { WorkDirectory } from '#server/files/work-directory.ts';
import { createGit } from '#server/git/git.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { diffPath } from '#server/workspace-files/diff.ts';
import { openDownload } from '#server/workspace-files/download.ts';
import { findTarget } from '#server/workspace-files/launch.ts';
import { listFiles, listManyFiles } from '#server/workspace-files/list.ts';
import { makeDirectory } from '#server/workspace-files/make-directory.ts';
import { readFileContent } from '#server/workspace-files/read.ts';
import { statPath, statPaths } from '#server/workspace-files/stat.ts';
import { startLinkSwapper } from '#support/link-swapper.ts';
import { openProjects } from '#support/projects.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const SECRET = 'do not tell';

const list = {
  depth: 2,
  limit: 20,
  show_hidden: true,
  follow_gitignore: true,
  include_git_status: false,
  sort: 'name_asc',
} as const;
const deps = { env: { HOME: '/nowhere' }, topOf: openProjects().topOf, signal: new AbortController().signal };

async function download(directory: WorkDirectory, path: string): Promise<string> {
  const { file } = await openDownload(directory, path);
  try {
    return (await file.read(Buffer.alloc(64), 0, 64, 0)).buffer.toString();
  } finally {
    await file.close();
  }
}

const git = createGit({ runtime: createLocalRuntime(), clock: systemClock });
afterAll(() => git.close());

const mustBeRefused = (path: string) =>
  path.startsWith('/') || path === '' || path.split(/[/\\]/).includes('..') || path.includes('\0');

const MAX_DIFFS = 100;
let diffs = 0;
/** Git is started several times for each path that is not refused, so only the first of these are tested. */
async function diff(directory: WorkDirectory, path: string): Promise<unknown> {
  if (!mustBeRefused(path) && ++diffs > MAX_DIFFS) return null;
  return diffPath(git, directory, path, new AbortController().signal);
}

/** Every action that takes a path; the replies are checked. */
const actions: Record<string, (directory: WorkDirectory, path: string) => Promise<unknown>> = {
  stat: statPath,
  stat_many: (directory, path) => statPaths(directory, [path]),
  read: (directory, path) => readFileContent(directory, { path, offset: 0, length: 100, encoding: 'auto' }),
  list: (directory, path) => listFiles(directory, { ...list, path }, deps),
  list_many: (directory, path) => listManyFiles(directory, { ...list, paths: [path] }, deps),
  download,
  /** Also for `open-in` and `reveal`, which start a program for the target. */
  open: (directory, path) => findTarget(directory, { path }),
  mkdir: (directory, path) => makeDirectory(directory, { path, recursive: path.length % 2 === 0 }),
  diff,
};

let root: string;
let outside: string;
let directory: WorkDirectory;
beforeEach(async () => {
  const base = await temporaryHome();
  root = join(base, 'work');
  outside = join(base, 'work-outside');
  directory = { root, additionalDirs: () => [] };
  await mkdir(join(root, 'a/b'), { recursive: true });
  await mkdir(join(outside, 'a/b'), { recursive: true });
  // Neither contents nor names of these files may be returned.
  for (const place of ['secret', 'a/f', 'a/b/f', SECRET, `a/${SECRET}`, `a/b/${SECRET}`]) {
    await writeFile(join(outside, place), SECRET);
  }
  for (const place of ['f', 'a/f', 'a/b/f']) await writeFile(join(root, place), 'inside');
});

const outsideNames = async () => (await readdir(outside, { recursive: true })).toSorted();

describe('5,000 hostile paths', () => {
  const simple =
    '.. .. . a b f a out file-out up in loop broken proc fds pipe broken-out ... ~ -x %2e%2e ..%2f C: ..\\ work-outside ' +
    'secret $(id) self root cwd etc passwd __proto__ constructor new .git \\\\host\\share';
  const odd = [
    '',
    '.. ',
    '..\0',
    '\0',
    '\uFF0E\uFF0E',
    '\u2024\u2024',
    '\\',
    "'",
    '\n',
    'x'.repeat(300),
    'e\u0301',
    '\uD800',
  ];
  const pieces = [...simple.split(' '), ...odd];
  const separators = ['/', '/', '/', '//', '\\', '/./'];

  /** The same paths in every run. */
  function* hostilePaths(count: number): Generator<string> {
    let state = 42;
    const next = (below: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % below;
    };
    for (let made = 0; made < count; made++) {
      let path = next(12) === 0 ? [root, outside, '/', '//', '/proc/self/root'][next(5)] : '';
      for (let length = 1 + next(5); length > 0; length--) {
        path += `${pieces[next(pieces.length)]}${length > 1 || next(8) === 0 ? separators[next(separators.length)] : ''}`;
      }
      yield path ?? '';
    }
  }

  it.each(Object.keys(actions))('%s reveals and changes nothing outside', async (name) => {
    const act = actions[name];
    if (!act) throw new Error(name);
    const links = [
      ['out', outside],
      ['file-out', join(outside, 'secret')],
      ['up', '..'],
      ['in', 'a'],
      ['loop', 'loop'],
      ['broken', 'a/none'],
      ['broken-out', join(outside, 'new')],
      ['proc', '/proc/self/root'],
      ['fds', '/proc/self/fd'],
    ];
    for (const [link = '', target = ''] of links) await symlink(target, join(root, link));
    execFileSync('mkfifo', [join(root, 'pipe')]);
    if (name === 'diff') execFileSync('git', ['init', '--quiet', root]);
    const before = await outsideNames();
    const outcomes = new Map<string, number>();
    await mapLimit([...hostilePaths(5000)], 8, async (path) => {
      let outcome = 'done';
      try {
        const answer = JSON.stringify(await act(directory, path));
        expect(answer).not.toContain(SECRET);
        if (name !== 'list_many') expect([path, mustBeRefused(path)]).toEqual([path, false]);
        else if (mustBeRefused(path)) expect(answer).toMatch(/"code":(41304|40001)/);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        outcome = String(error.code);
        if (mustBeRefused(path)) expect([path, outcome]).toEqual([path, path.includes('\0') ? '40001' : '41304']);
      }
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    });
    expect(await outsideNames()).toEqual(before);
    for (const place of ['secret', 'a/f']) expect(await readFile(join(outside, place), 'utf8')).toBe(SECRET);
    // The paths include every kind.
    if (name !== 'list_many') expect(outcomes.get('41304')).toBeGreaterThan(1000);
    expect(outcomes.get('done')).toBeGreaterThan(10);
  });
});

describe.runIf(process.platform === 'linux')('a thread that swaps components for links', () => {
  it('reads nothing from outside and writes nothing to it', async () => {
    const before = await outsideNames();
    const swapper = startLinkSwapper([
      [join(root, 'a'), join(outside, 'a')],
      [join(root, 'f'), join(outside, 'secret')],
    ]);
    const outcomes = new Map<string, number>();
    const until = Date.now() + 3000;
    try {
      for (let round = 0; Date.now() < until; round++) {
        const tries = [
          ...['f', 'a/f', 'a/b/f'].flatMap((path) =>
            [actions.read, actions.download].map((act) => act?.(directory, path)),
          ),
          ...['.', 'a', 'a/b'].map((path) => listFiles(directory, { ...list, depth: 3, path }, deps)),
          actions.stat?.(directory, 'a/b/f'),
          makeDirectory(directory, { path: `a/b/made-${round}`, recursive: false }),
          makeDirectory(directory, { path: `a/deep-${round}/x/y`, recursive: true }),
        ];
        for (const result of await Promise.allSettled(tries.map((tried) => Promise.resolve(tried)))) {
          if (result.status === 'fulfilled') expect(JSON.stringify(result.value)).not.toContain(SECRET);
          else if (!(result.reason instanceof ServiceError)) throw result.reason;
          const outcome = result.status === 'fulfilled' ? 'done' : (result.reason as ServiceError).name;
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        }
      }
    } finally {
      await swapper.stop();
    }
    expect(await outsideNames()).toEqual(before);
    // The race took place: both outcomes occurred.
    expect(swapper.turns()).toBeGreaterThan(10);
    expect(outcomes.get('done')).toBeGreaterThan(10);
    expect(outcomes.get('fs.path_escapes_session')).toBeGreaterThan(10);
  });
});
