/**
 * Embedded repositories: those that `git status` and `git diff` enter from the repository around them, because its
 * index has their commits (gitlinks), whether or not `.gitmodules` declares them. Cached until an index changes.
 */
import { join } from 'node:path';
import { controlPathsOf, type Repository } from '#server/project-files/repository.ts';
import { readWithGit, type ConfigurationRuntime } from './configuration.ts';
import { areSettled, stampOf } from './stamps.ts';

export interface EmbeddedRepository {
  top: string;
  /** The git directory, and the common directory of a linked work tree; also with links resolved. */
  gitDirectories: string[];
}

/** Finds embedded repositories at any depth. Undefined when git cannot read an index, or there are too many. */
export type EmbeddedRepositories = (
  repository: Pick<Repository, 'top' | 'controlPaths'>,
  runtime: ConfigurationRuntime,
) => Promise<EmbeddedRepository[] | undefined>;

const MAX_REPOSITORIES = 500;
const MAX_CACHED = 1000;
const MAX_INDEX_BYTES = 64 * 1024 * 1024;
const MAX_LIST_BYTES = 512 * 1024 * 1024;

/** The mode of a gitlink, as text and as every version of the index file stores it. */
const MODE_TEXT = '160000 ';
const MODE_BYTES = Buffer.from([0, 0, 0xe0, 0]);
/** Signature of the extension that marks a split index: part of its entries is in another file. */
const SPLIT_INDEX = Buffer.from('link\0');

/** Whether an index may have gitlinks. Most have none, which saves the git process that lists their entries. */
async function mayHaveGitlinks(index: string, { readFile }: ConfigurationRuntime): Promise<boolean> {
  const bytes = await readFile(index, { maxBytes: MAX_INDEX_BYTES }).catch(() => undefined);
  if (!bytes) return true;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.includes(MODE_BYTES) || buffer.includes(SPLIT_INDEX);
}

/** Returns the paths of gitlinks below the top of a work tree; undefined when git cannot list them. */
async function listGitlinks(top: string, runtime: ConfigurationRuntime): Promise<string[] | undefined> {
  const paths = new Set<string>();
  let rest = '';
  const done = await readWithGit(top, runtime, {
    args: ['ls-files', '--stage', '-z'],
    maxOutputBytes: MAX_LIST_BYTES,
    onText(text) {
      const records = (rest + text).split('\0');
      rest = records.pop() ?? '';
      for (const record of records) {
        if (record.startsWith(MODE_TEXT)) paths.add(record.slice(record.indexOf('\t') + 1));
      }
    },
  });
  // Where git is not installed, no repository is entered.
  return done === false ? undefined : [...paths];
}

/** Creates a bounded cache of values read from files; an entry is valid while the files' stamps are unchanged. */
function createStampCache<Value>() {
  const cached = new Map<string, { stamp: string; value: Value }>();

  /** `read` is called when a file has changed; undefined is not cached. */
  return async (
    key: string,
    files: readonly string[],
    runtime: ConfigurationRuntime,
    read: (present: readonly string[]) => Promise<Value | undefined>,
  ): Promise<Value | undefined> => {
    const begun = Date.now();
    const stamps = await Promise.all(files.map((file) => stampOf(file, runtime)));
    const stamp = stamps.map(({ text }) => text).join('\n');
    const before = cached.get(key);
    if (before?.stamp === stamp) return before.value;
    cached.delete(key);
    const value = await read(files.filter((_, index) => stamps[index]?.text !== ''));
    if (value !== undefined && areSettled(stamps, begun)) {
      const [oldest] = cached.keys();
      if (cached.size >= MAX_CACHED && oldest !== undefined) cached.delete(oldest);
      cached.set(key, { stamp, value });
    }
    return value;
  };
}

/** Creates a finder that caches the gitlinks of each index. */
export function createEmbeddedRepositories(): EmbeddedRepositories {
  const cachedGitlinks = createStampCache<string[]>();
  const cachedDirectories = createStampCache<string[]>();

  function gitlinksOf({ top, gitDirectories }: EmbeddedRepository, runtime: ConfigurationRuntime) {
    const indexes = gitDirectories.map((directory) => join(directory, 'index'));
    return cachedGitlinks(top, indexes, runtime, async (present) => {
      const may = await Promise.all(present.map((index) => mayHaveGitlinks(index, runtime)));
      return may.includes(true) ? listGitlinks(top, runtime) : [];
    });
  }

  /** Undefined where no submodule is checked out. */
  async function repositoryAt(top: string, runtime: ConfigurationRuntime): Promise<EmbeddedRepository | undefined> {
    const entry = join(top, '.git');
    const gitDirectories = await cachedDirectories(top, [entry], runtime, async ([present]) => {
      const paths = present === undefined ? undefined : await controlPathsOf(present, runtime);
      if (!paths || (await runtime.stat(entry)).isDirectory()) return paths;
      return paths.filter((path) => path !== entry);
    });
    return gitDirectories && { top, gitDirectories };
  }

  return async (repository, runtime) => {
    const found: EmbeddedRepository[] = [{ top: repository.top, gitDirectories: repository.controlPaths }];
    // The loop also visits the repositories that it appends.
    for (const around of found) {
      const paths = await gitlinksOf(around, runtime);
      if (!paths || found.length + paths.length > MAX_REPOSITORIES) return undefined;
      const embedded = await Promise.all(paths.map((path) => repositoryAt(join(around.top, path), runtime)));
      found.push(...embedded.filter((one) => one !== undefined));
    }
    return found.slice(1);
  };
}
