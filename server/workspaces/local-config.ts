/**
 * `.service-code/local.toml` of a project: the additional directories of the workspace. The file may have come with the
 * project, so it is bounded, read only if it is a regular file, and neither read nor written through a link that leads
 * out of the project.
 */
import { mkdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parse, stringify } from 'smol-toml';
import * as z from 'zod';
import { isTable } from '#server/config/document.ts';
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import { writeThroughLinks } from '#server/files/atomic-write.ts';
import { errorCode } from '#server/errors/errno.ts';
import { isInside } from '#server/files/paths.ts';
import { UnsuitableFile, readRegular } from '#server/files/read-regular.ts';
import { PROJECT_FOLDER } from '#server/project-files/places.ts';
import { realPath } from '#server/runtime/real-path.ts';
import { normalRoot } from './workspace-root.ts';

/** The parser's time grows faster than the text; this size is parsed within some milliseconds. */
const MAX_BYTES = 16_384;
/** Limit of additional directories of a workspace, because every path decision checks each. */
export const MAX_DIRECTORIES = 100;

const ABSENT = new Set(['ENOENT', 'ENOTDIR']);
const isAbsent = (error: unknown) => ABSENT.has(errorCode(error) ?? '');

export interface LocalConfig {
  /** All tables of the file. */
  tables: Record<string, unknown>;
  /** `additional_dir`: absolute, without duplicates. */
  directories: string[];
}

export const configPathOf = (projectRoot: string): string => join(projectRoot, PROJECT_FOLDER, 'local.toml');

/** Changes whenever the file does; `absent` when there is none. Throws the file system's errors. */
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

/** Resolves the links of the path. Throws `validation.failed` when it leads out of the project. */
async function placeOf(projectRoot: string): Promise<string> {
  const path = configPathOf(projectRoot);
  const real = await realPath(path);
  await assertInProject(projectRoot, path)(real);
  return real;
}

const assertInProject = (projectRoot: string, path: string) => async (real: string) => {
  if (!isInside(real, await realpath(projectRoot))) throw invalidConfig(`${path} leads out of the project`);
};

const directoryList = z.array(z.string());

function parseTables(text: string, path: string): Record<string, unknown> {
  if (text.trim() === '') return {};
  try {
    return parse(text, { integersAsBigInt: true });
  } catch {
    throw invalidConfig(`Invalid TOML in ${path}`);
  }
}

/** Throws `validation.failed` for an invalid file, `persistence.failure` for an unreadable one. */
export async function readLocalConfig(projectRoot: string): Promise<LocalConfig> {
  const path = configPathOf(projectRoot);
  let text = '';
  try {
    const bytes = await readRegular(path, { maxBytes: MAX_BYTES, admit: assertInProject(projectRoot, path) });
    text = Buffer.from(bytes).toString('utf8');
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    if (error instanceof UnsuitableFile) throw invalidConfig(error.message);
    if (!isAbsent(error))
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

/** Writes the list, preserving other keys but not comments. Throws `persistence.failure`. */
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
