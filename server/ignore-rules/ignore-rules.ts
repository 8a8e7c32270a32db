/**
 * Ignore rules of a work directory with the precedence of ripgrep and git: `.ignore` files, `.gitignore` files,
 * `.git/info/exclude`, git's global excludes; within one kind the deepest file with a matching pattern decides. In a
 * repository `.gitignore` files apply from the top of the work tree, separately in a nested repository, and `.ignore`
 * files from the root of the disk; outside of one both apply from the work directory.
 */
import { constants, type Stats } from 'node:fs';
import { lstat, realpath, type FileHandle } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join, parse } from 'node:path';
import { gitDirectoryOf } from '#server/project-files/repository.ts';
import { errorCode } from '#server/errors/errno.ts';
import { parseIgnoreFile, type IgnoreFile } from './ignore-file.ts';
import { IGNORE_FILE_MAX_BYTES, type IgnoreTexts } from './ignore-texts.ts';
import { openRegular, readBytes } from '#server/files/open-regular.ts';
import { byDescriptor } from '#server/files/descriptors.ts';
import { parentOf, type OpenPath, type Within } from '#server/files/open-within.ts';
import { directoriesDown, isInside } from '#server/files/paths.ts';
import { readRegular } from '#server/files/read-regular.ts';
import type { RelativePath, WorkDirectory } from '#server/files/work-directory.ts';

const GIT_DIRECTORY = '.git';
/** Ignore files of one directory. */
interface OwnFiles {
  /** True for the top of a repository: `.gitignore` files above it do not apply. */
  hasGit: boolean;
  ignore: IgnoreFile | undefined;
  gitignore: IgnoreFile | undefined;
  exclude: IgnoreFile | undefined;
}

interface Layer extends OwnFiles {
  /** Absolute, because paths are matched relative to it. */
  directory: string;
}

export interface DirectoryRules {
  /** True if the directory or one of its ancestors is ignored. */
  readonly ignored: boolean;
  /** For an entry of the directory; true for all entries of an ignored directory. */
  isIgnored(name: string, isDirectory: boolean): boolean;
}

export interface IgnoreRules {
  /** Rules for a directory below the work directory. Memoized; `texts` avoids reading the files again. */
  at(path: RelativePath, texts?: IgnoreTexts): Promise<DirectoryRules>;
}

/** Reads the complete lines at the start of an opened file; undefined if it cannot be read. Closes the file. */
async function readOpened(file: FileHandle): Promise<string | undefined> {
  try {
    const bytes = await readBytes(file, 0, IGNORE_FILE_MAX_BYTES);
    const text = bytes.toString('utf8');
    return bytes.length < IGNORE_FILE_MAX_BYTES ? text : text.slice(0, text.lastIndexOf('\n') + 1);
  } catch {
    // An unreadable ignore file is treated as missing.
    return undefined;
  } finally {
    await file.close();
  }
}

/** Text of a regular file; undefined if it is missing or unreadable. */
async function readText(path: string): Promise<string | undefined> {
  // A named pipe at the path of an ignore file must not block.
  const file = await openRegular(path).catch(() => undefined);
  return file && readOpened(file);
}

const parsed = (text: string | undefined) => (text === undefined ? undefined : parseIgnoreFile(text));

const readIgnoreFile = async (path: string): Promise<IgnoreFile | undefined> => parsed(await readText(path));

const gitEntry = (directory: string): Promise<Stats | undefined> =>
  lstat(join(directory, GIT_DIRECTORY)).catch(() => undefined);

async function readExclude(directory: string, entry: Stats | undefined): Promise<IgnoreFile | undefined> {
  if (!entry) return undefined;
  const files = { readFile: readRegular };
  const git = await gitDirectoryOf(join(directory, GIT_DIRECTORY), entry.isDirectory(), files);
  return git === undefined ? undefined : readIgnoreFile(join(git, 'info', 'exclude'));
}

/** The file named by `core.excludesFile` in one of the user's two configurations, or else git's default. */
async function readGlobalExcludes(env: NodeJS.ProcessEnv): Promise<IgnoreFile | undefined> {
  const home = env.HOME || homedir();
  const git = join(env.XDG_CONFIG_HOME || join(home, '.config'), 'git');
  const paths = [join(home, '.gitconfig'), join(git, 'config'), join(git, 'ignore')];
  const [configured, other, byDefault] = await Promise.all(paths.map(readText));
  for (const config of [configured, other]) {
    const named = /^\s*excludesfile\s*=\s*"?\s*(\S+?)\s*"?\s*$/im.exec(config ?? '')?.[1];
    if (named !== undefined) return readIgnoreFile(named.startsWith('~/') ? join(home, named.slice(2)) : named);
  }
  return parsed(byDefault);
}

/** Result of the nearest directory whose file of this kind has a matching pattern. */
function nearest(
  layers: readonly Layer[],
  kind: 'ignore' | 'gitignore' | 'exclude',
  entry: { path: string; name: string; isDirectory: boolean },
  stopAtTop: boolean,
): boolean | undefined {
  for (const layer of layers) {
    const below = layer.directory.endsWith('/') ? layer.directory.length : layer.directory.length + 1;
    const said = layer[kind]?.match(entry.path.slice(below), entry.name, entry.isDirectory);
    if (said !== undefined) return said;
    if (stopAtTop && layer.hasGit) return undefined;
  }
  return undefined;
}

export interface IgnoreRulesDeps {
  /** Supplies the user's home directory. */
  env: NodeJS.ProcessEnv;
  /** Top of the git work tree that contains a directory (links resolved). */
  topOf(real: string): Promise<string | undefined>;
}

/** The rules outside the work directory that apply inside it. */
interface Above {
  /** The work directory, links resolved. */
  root: string;
  top: string | undefined;
  global: IgnoreFile | undefined;
  /** Ordered from the nearest directory up. */
  layers: Layer[];
}

/** Reads the files of a directory above the work directory, in a repository. */
async function readLayerAbove(directory: string, top: string): Promise<Layer> {
  const isTop = directory === top;
  const [ignore, gitignore, exclude] = await Promise.all([
    readIgnoreFile(join(directory, '.ignore')),
    isInside(directory, top) ? readIgnoreFile(join(directory, '.gitignore')) : undefined,
    isTop ? gitEntry(directory).then((entry) => readExclude(directory, entry)) : undefined,
  ]);
  return { directory, hasGit: isTop, ignore, gitignore, exclude };
}

async function readAbove(directory: WorkDirectory, { env, topOf }: IgnoreRulesDeps): Promise<Above> {
  const global = readGlobalExcludes(env);
  const root = await realpath(directory.root);
  const top = await topOf(root);
  const directories = top === undefined ? [] : directoriesDown(parse(root).root, root).slice(0, -1);
  const layers = await Promise.all(directories.map((above) => readLayerAbove(above, top ?? root)));
  return { root, top, global: await global, layers: layers.toReversed() };
}

/** The ignore file `name` of an opened directory; undefined if it is unreadable or leads outside. */
async function readEntry(inside: Within, place: OpenPath, name: string): Promise<IgnoreFile | undefined> {
  const file = await inside.openEntry(place, name, name).catch(() => undefined);
  if (!file) return undefined;
  try {
    return await readIgnoreFile(file.at);
  } finally {
    await file.close();
  }
}

/** Like `readEntry`, for a name without a slash: fewer system calls unless it is a link, which may lead outside. */
async function readOwnEntry(inside: Within, place: OpenPath, name: string): Promise<IgnoreFile | undefined> {
  if (!byDescriptor) return readEntry(inside, place, name);
  try {
    const file = await openRegular(join(place.at, name), constants.O_NOFOLLOW);
    return file && parsed(await readOpened(file));
  } catch (error) {
    return errorCode(error) === 'ELOOP' ? readEntry(inside, place, name) : undefined;
  }
}

async function readGit(inside: Within, place: OpenPath): Promise<Pick<OwnFiles, 'hasGit' | 'exclude'>> {
  const git = await gitEntry(place.at);
  const exclude = git?.isDirectory() ? readEntry(inside, place, '.git/info/exclude') : readExclude(place.at, git);
  return { hasGit: git !== undefined, exclude: await exclude };
}

/** Undefined if the directory cannot be opened or leads outside. */
async function readOwnFiles(inside: Within, path: RelativePath): Promise<OwnFiles | undefined> {
  const place = await inside.open(path).catch(() => undefined);
  if (!place) return undefined;
  try {
    const [git, ignore, gitignore] = await Promise.all([
      readGit(inside, place),
      readOwnEntry(inside, place, '.ignore'),
      readOwnEntry(inside, place, '.gitignore'),
    ]);
    return { ...git, ignore, gitignore };
  } finally {
    await place.close();
  }
}

/** Reads the files above the work directory immediately, those inside it on demand. */
export function createIgnoreRules(directory: WorkDirectory, inside: Within, deps: IgnoreRulesDeps): IgnoreRules {
  const reading = readAbove(directory, deps);
  // Prevents an unhandled rejection; each use awaits `reading` and rejects with it.
  reading.catch(() => undefined);
  const known = new Map<string, Promise<DirectoryRules & { layers: Layer[] }>>();

  const filesOf = ({ ignore, gitignore }: IgnoreTexts): OwnFiles => ({
    hasGit: false,
    ignore: parsed(ignore),
    gitignore: parsed(gitignore),
    exclude: undefined,
  });

  async function rulesAt(path: RelativePath, texts?: IgnoreTexts): Promise<DirectoryRules & { layers: Layer[] }> {
    const target = parentOf(path);
    // The files of all ancestors and of this directory are read in parallel.
    const [own, parent, above] = await Promise.all([
      texts ? filesOf(texts) : readOwnFiles(inside, path),
      target && lookUp(target.parent),
      reading,
    ]);
    const { root, top, global } = above;
    const ignored = parent !== undefined && (parent.ignored || parent.isIgnored(basename(path), true));
    const layers = [...(own && !ignored ? [{ directory: join(root, path), ...own }] : []), ...(parent ?? above).layers];
    const base = join(root, path, '/');
    const globalRoot = top ?? root;

    function decide(name: string, isDirectory: boolean): boolean {
      const entry = { path: base + name, name, isDirectory };
      const inRepository = top !== undefined;
      return (
        nearest(layers, 'ignore', entry, false) ??
        nearest(layers, 'gitignore', entry, inRepository) ??
        nearest(layers, 'exclude', entry, inRepository) ??
        global?.match(entry.path.slice(globalRoot.length + 1), name, isDirectory) ??
        false
      );
    }

    return {
      ignored,
      layers,
      isIgnored: (name, isDirectory) => ignored || name === GIT_DIRECTORY || decide(name, isDirectory),
    };
  }

  function lookUp(path: RelativePath, texts?: IgnoreTexts): Promise<DirectoryRules & { layers: Layer[] }> {
    const found = known.get(path) ?? rulesAt(path, texts);
    known.set(path, found);
    return found;
  }

  return { at: lookUp };
}
