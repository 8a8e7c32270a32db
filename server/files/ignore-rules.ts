/**
 * Which entries of a work directory are ignored, as ripgrep and git have it: `.ignore` files before `.gitignore` files
 * before `.git/info/exclude` before git's global excludes; of one kind the deepest that says something decides. In a
 * repository `.gitignore` files count from the top of the work tree down, a nested repository begins anew, and
 * `.ignore` files count from the root of the disk; outside of one both count from the work directory down.
 */
import type { Stats } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, parse } from 'node:path';
import { gitDirectoryOf } from '#server/project-files/repository.ts';
import { IGNORE_FILE_MAX_BYTES, parseIgnoreFile, type IgnoreFile } from './ignore-file.ts';
import { openRegular, readBytes } from './open-regular.ts';
import { parentOf, type Within } from './open-within.ts';
import { directoriesDown, isInside } from './paths.ts';
import { readRegular } from './read-regular.ts';
import type { RelativePath, WorkDirectory } from './work-directory.ts';

const GIT_DIRECTORY = '.git';
/** What the files of one directory say; the nearest directory first. */
interface Layer {
  /** Absolute, as paths are matched. */
  directory: string;
  /** Holds a `.git`, so that `.gitignore` files above do not count. */
  isTop: boolean;
  ignore: IgnoreFile | undefined;
  gitignore: IgnoreFile | undefined;
  exclude: IgnoreFile | undefined;
}

export interface DirectoryRules {
  /** The directory itself is, or one that it lies in. */
  readonly ignored: boolean;
  /** Of an entry of the directory; what lies in an ignored one is ignored. */
  isIgnored(name: string, isDirectory: boolean): boolean;
}

export interface IgnoreRules {
  /** Of a directory of the work directory; read once. */
  at(path: RelativePath): Promise<DirectoryRules>;
  /** Top of the git work tree, or undefined outside of any. */
  readonly top: string | undefined;
}

/** The beginning of a regular file; undefined when there is none that can be read. */
async function readText(path: string): Promise<string | undefined> {
  // A pipe in place of an ignore file must not hold anything up.
  const file = await openRegular(path).catch(() => undefined);
  if (!file) return undefined;
  try {
    const bytes = await readBytes(file, 0, IGNORE_FILE_MAX_BYTES);
    const text = bytes.toString('utf8');
    return bytes.length < IGNORE_FILE_MAX_BYTES ? text : text.slice(0, text.lastIndexOf('\n') + 1);
  } catch {
    // What cannot be read says nothing.
    return undefined;
  } finally {
    await file.close();
  }
}

async function readIgnoreFile(path: string): Promise<IgnoreFile | undefined> {
  const text = await readText(path);
  return text === undefined ? undefined : parseIgnoreFile(text);
}

const gitEntry = (directory: string): Promise<Stats | undefined> =>
  lstat(join(directory, GIT_DIRECTORY)).catch(() => undefined);

async function readExclude(directory: string, entry: Stats | undefined): Promise<IgnoreFile | undefined> {
  if (!entry) return undefined;
  const files = { readFile: readRegular };
  const git = await gitDirectoryOf(join(directory, GIT_DIRECTORY), entry.isDirectory(), files);
  return git === undefined ? undefined : readIgnoreFile(join(git, 'info', 'exclude'));
}

/** The file that `core.excludesFile` names for this user, or git's default. */
async function readGlobalExcludes(env: NodeJS.ProcessEnv): Promise<IgnoreFile | undefined> {
  const home = env.HOME || homedir();
  const configHome = env.XDG_CONFIG_HOME || join(home, '.config');
  for (const config of [join(home, '.gitconfig'), join(configHome, 'git', 'config')]) {
    const named = /^\s*excludesfile\s*=\s*"?\s*(\S+?)\s*"?\s*$/im.exec((await readText(config)) ?? '')?.[1];
    if (named !== undefined) return readIgnoreFile(named.startsWith('~/') ? join(home, named.slice(2)) : named);
  }
  return readIgnoreFile(join(configHome, 'git', 'ignore'));
}

/** What a kind of file says of an entry, the nearest directory first. */
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
    if (stopAtTop && layer.isTop) return undefined;
  }
  return undefined;
}

export interface IgnoreRulesDeps {
  /** Names the user's home. */
  env: NodeJS.ProcessEnv;
  /** Top of the git work tree that a directory (links resolved) lies in. */
  topOf(real: string): Promise<string | undefined>;
}

/** Reads the files above the work directory; those in it when they are asked for. */
export async function createIgnoreRules(
  directory: WorkDirectory,
  inside: Within,
  { env, topOf }: IgnoreRulesDeps,
): Promise<IgnoreRules> {
  const root = await realpath(directory.root);
  const top = await topOf(root);
  const global = await readGlobalExcludes(env);
  const globalRoot = top ?? root;
  const known = new Map<string, Promise<DirectoryRules & { layers: Layer[] }>>();

  async function readAbove(): Promise<Layer[]> {
    if (top === undefined || root === dirname(root)) return [];
    const layers: Layer[] = [];
    for (const above of directoriesDown(parse(root).root, dirname(root))) {
      const inTree = isInside(above, top);
      layers.unshift({
        directory: above,
        isTop: above === top,
        ignore: await readIgnoreFile(join(above, '.ignore')),
        gitignore: inTree ? await readIgnoreFile(join(above, '.gitignore')) : undefined,
        exclude: above === top ? await readExclude(above, await gitEntry(above)) : undefined,
      });
    }
    return layers;
  }

  async function readLayer(path: RelativePath): Promise<Layer | undefined> {
    const place = await inside.open(path).catch(() => undefined);
    if (!place) return undefined;
    /** A link in place of the file may lead anywhere. */
    const read = async (name: string) => {
      const file = await inside.openEntry(place, name, name).catch(() => undefined);
      if (!file) return undefined;
      try {
        return await readIgnoreFile(file.at);
      } finally {
        await file.close();
      }
    };
    try {
      const [git, ignore, gitignore] = await Promise.all([gitEntry(place.at), read('.ignore'), read('.gitignore')]);
      return {
        directory: join(root, path),
        isTop: top !== undefined && git !== undefined,
        ignore,
        gitignore,
        exclude: git?.isDirectory() ? await read('.git/info/exclude') : await readExclude(place.at, git),
      };
    } finally {
      await place.close();
    }
  }

  function decide(layers: readonly Layer[], path: string, name: string, isDirectory: boolean): boolean {
    const entry = { path, name, isDirectory };
    return (
      nearest(layers, 'ignore', entry, false) ??
      nearest(layers, 'gitignore', entry, true) ??
      nearest(layers, 'exclude', entry, true) ??
      global?.match(path.slice(globalRoot.length + 1), name, isDirectory) ??
      false
    );
  }

  async function rulesAt(path: RelativePath): Promise<DirectoryRules & { layers: Layer[] }> {
    const target = parentOf(path);
    const above = target && (await lookUp(target.parent));
    const ignored = above !== undefined && (above.ignored || above.isIgnored(basename(path), true));
    const own = ignored ? undefined : await readLayer(path);
    const layers = [...(own ? [own] : []), ...(above ? above.layers : await readAbove())];
    const base = join(root, path, '/');
    return {
      ignored,
      layers,
      isIgnored: (name, isDirectory) =>
        ignored || name === GIT_DIRECTORY || decide(layers, base + name, name, isDirectory),
    };
  }

  function lookUp(path: RelativePath): Promise<DirectoryRules & { layers: Layer[] }> {
    const found = known.get(path) ?? rulesAt(path);
    known.set(path, found);
    return found;
  }

  return { at: lookUp, top };
}
