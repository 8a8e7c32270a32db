/**
 * Which entries of a work directory are ignored, as ripgrep and git have it: `.ignore` files before `.gitignore` files
 * before `.git/info/exclude` before git's global excludes; of one kind the deepest that says something decides. In a
 * repository `.gitignore` files count from the top of the work tree down, a nested repository begins anew, and
 * `.ignore` files count from the root of the disk; outside of one both count from the work directory down.
 */
import type { Stats } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join, parse } from 'node:path';
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

/** Texts of the ignore files of a directory without a `.git`; undefined where there is none. */
export interface IgnoreTexts {
  ignore?: string | undefined;
  gitignore?: string | undefined;
}

export interface IgnoreRules {
  /** Of a directory of the work directory; read once, unless `texts` has been read with it. */
  at(path: RelativePath, texts?: IgnoreTexts): Promise<DirectoryRules>;
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

/** Where git looks for the user's excludes: two configurations that may name a file, and the default file. */
function globalPaths(env: NodeJS.ProcessEnv): { home: string; paths: string[] } {
  const home = env.HOME || homedir();
  const configHome = env.XDG_CONFIG_HOME || join(home, '.config');
  const paths = [join(home, '.gitconfig'), join(configHome, 'git', 'config'), join(configHome, 'git', 'ignore')];
  return { home, paths };
}

/** The file that `core.excludesFile` names for this user, or git's default; `texts` are those of the global paths. */
async function globalExcludes(home: string, texts: readonly (string | undefined)[]): Promise<IgnoreFile | undefined> {
  for (const config of texts.slice(0, 2)) {
    const named = /^\s*excludesfile\s*=\s*"?\s*(\S+?)\s*"?\s*$/im.exec(config ?? '')?.[1];
    if (named !== undefined) return readIgnoreFile(named.startsWith('~/') ? join(home, named.slice(2)) : named);
  }
  return parsed(texts[2]);
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
  const directoriesAbove = top === undefined ? [] : directoriesDown(parse(root).root, root).slice(0, -1);
  const { home, paths } = globalPaths(env);
  const ignoreFiles = directoriesAbove.flatMap((above) => [join(above, '.ignore'), join(above, '.gitignore')]);
  const texts = await Promise.all([...paths, ...ignoreFiles].map(readText));
  const global = await globalExcludes(home, texts);
  const globalRoot = top ?? root;
  const known = new Map<string, Promise<DirectoryRules & { layers: Layer[] }>>();

  async function readAbove(): Promise<Layer[]> {
    const layers: Layer[] = [];
    for (const [index, above] of directoriesAbove.entries()) {
      const [ignore, gitignore] = texts.slice(paths.length + index * 2);
      layers.unshift({
        directory: above,
        isTop: above === top,
        ignore: parsed(ignore),
        gitignore: top !== undefined && isInside(above, top) ? parsed(gitignore) : undefined,
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

  const layerOf = (path: RelativePath, { ignore, gitignore }: IgnoreTexts): Layer => ({
    directory: join(root, path),
    isTop: false,
    ignore: parsed(ignore),
    gitignore: parsed(gitignore),
    exclude: undefined,
  });

  async function rulesAt(path: RelativePath, own?: IgnoreTexts): Promise<DirectoryRules & { layers: Layer[] }> {
    const target = parentOf(path);
    const above = target && (await lookUp(target.parent));
    const ignored = above !== undefined && (above.ignored || above.isIgnored(basename(path), true));
    const layer = ignored ? undefined : own ? layerOf(path, own) : await readLayer(path);
    const layers = [...(layer ? [layer] : []), ...(above ? above.layers : await readAbove())];
    const base = join(root, path, '/');
    return {
      ignored,
      layers,
      isIgnored: (name, isDirectory) =>
        ignored || name === GIT_DIRECTORY || decide(layers, base + name, name, isDirectory),
    };
  }

  function lookUp(path: RelativePath, own?: IgnoreTexts): Promise<DirectoryRules & { layers: Layer[] }> {
    const found = known.get(path) ?? rulesAt(path, own);
    known.set(path, found);
    return found;
  }

  return { at: lookUp, top };
}
