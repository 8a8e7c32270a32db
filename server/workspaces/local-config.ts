/**
 * `.service-code/local.toml` of a project: which directories count as the workspace, too. The file may have come with
 * the project, so it is bounded, read only where it is a regular file, and a link that leads out of the project is neither
 * read nor written through.
 */
import { constants } from 'node:fs';
import { mkdir, open, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parse, stringify } from 'smol-toml';
import { z } from 'zod';
import { isTable } from '#server/config/document.ts';
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import { writeThroughLinks } from '#server/files/atomic-write.ts';
import { errorCode } from '#server/files/errno.ts';
import { directoriesDown, isInside } from '#server/files/paths.ts';
import { realPath } from '#server/runtime/real-path.ts';
import { normalRoot } from './workspace-root.ts';

/** The parser takes time that grows faster than the text; this much is read within some milliseconds. */
const MAX_BYTES = 16_384;
/** Additional directories of a workspace; each is looked at in path decisions. */
export const MAX_DIRECTORIES = 100;

const ABSENT = new Set(['ENOENT', 'ENOTDIR']);
const isAbsent = (error: unknown) => ABSENT.has(errorCode(error) ?? '');

export interface LocalConfig {
  /** All of the file. */
  tables: Record<string, unknown>;
  /** `additional_dir`: absolute, each once. */
  directories: string[];
}

/** The nearest directory at or above the root that holds `.git`, else the root. */
export async function projectRootOf(root: string): Promise<string> {
  for (const directory of directoriesDown('/', root).toReversed()) {
    const found = await stat(join(directory, '.git')).catch(() => undefined);
    if (found) return directory;
  }
  return root;
}

export const configPathOf = (projectRoot: string): string => join(projectRoot, '.service-code', 'local.toml');

/** Changes whenever the file does; `absent` when there is none. Throws what the file system throws. */
export async function configStamp(path: string): Promise<{ stamp: string; mtimeMs: number }> {
  try {
    const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true });
    return { stamp: `${dev}-${ino}-${size}-${mtimeNs}`, mtimeMs: Number(mtimeNs / 1_000_000n) };
  } catch (error) {
    if (isAbsent(error)) return { stamp: 'absent', mtimeMs: 0 };
    throw error;
  }
}

const invalidConfig = (message: string) => new ServiceError('validation.failed', message);

/** Where the path leads. Throws 40001 when that is out of the project. */
async function placeOf(projectRoot: string): Promise<string> {
  const path = configPathOf(projectRoot);
  const real = await realPath(path);
  if (!isInside(real, await realpath(projectRoot))) throw invalidConfig(`${path} leads out of the project`);
  return real;
}

/** Undefined when there is none. */
async function readBounded(place: string, path: string): Promise<string | undefined> {
  // A pipe in its place must not hold the server up, and a link that was put there meanwhile is not followed.
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);
  const file = await open(place, flags).catch((error: unknown) => {
    if (isAbsent(error)) return undefined;
    throw error;
  });
  if (!file) return undefined;
  try {
    if (!(await file.stat()).isFile()) throw invalidConfig(`${path} is not a regular file`);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES + 1), 0, MAX_BYTES + 1, 0);
    if (bytesRead > MAX_BYTES) throw invalidConfig(`${path} is larger than ${MAX_BYTES} bytes`);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

const directoryList = z.array(z.string());

function parseTables(text: string, path: string): Record<string, unknown> {
  if (text.trim() === '') return {};
  try {
    return parse(text, { integersAsBigInt: true });
  } catch {
    throw invalidConfig(`Invalid TOML in ${path}`);
  }
}

/** Throws 40001 for a file that is not what it should be, 50003 for one that cannot be read. */
export async function readLocalConfig(projectRoot: string): Promise<LocalConfig> {
  const path = configPathOf(projectRoot);
  let text: string;
  try {
    text = (await readBounded(await placeOf(projectRoot), path)) ?? '';
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw new ServiceError('persistence.failure', `Failed to read ${path}: ${errorMessage(error)}`, { cause: error });
  }
  const tables = parseTables(text, path);
  const { workspace = {} } = tables;
  if (!isTable(workspace)) throw invalidConfig('workspace must be a table');
  const listed = directoryList.default([]).safeParse(workspace.additional_dir);
  if (!listed.success) throw invalidConfig('workspace.additional_dir must be an array of strings');
  const directories = [...new Set(listed.data.map((entry) => normalRoot(resolve(projectRoot, entry))))];
  if (directories.length > MAX_DIRECTORIES) {
    throw invalidConfig(`workspace.additional_dir must have at most ${MAX_DIRECTORIES} entries`);
  }
  return { tables, directories };
}

/** Writes the list. Other keys survive, comments do not. Throws 50003. */
export async function writeDirectories(
  projectRoot: string,
  { tables }: LocalConfig,
  directories: readonly string[],
): Promise<void> {
  const path = configPathOf(projectRoot);
  const workspace = isTable(tables.workspace) ? tables.workspace : {};
  const after = { ...tables, workspace: { ...workspace, additional_dir: directories } };
  try {
    const place = await placeOf(projectRoot);
    await mkdir(dirname(place), { recursive: true });
    await writeThroughLinks(place, stringify(after, { numbersAsFloat: true }));
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw new ServiceError('persistence.failure', `Failed to write ${path}: ${errorMessage(error)}`, { cause: error });
  }
}
