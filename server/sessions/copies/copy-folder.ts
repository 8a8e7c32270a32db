/** Copies a session's folder, except its journal, into the folder of a new session. */
import { copyFile, link, mkdir, readdir, realpath } from 'node:fs/promises';
import { constants } from 'node:fs';
import { join } from 'node:path';
import { ServiceError } from '#server/errors/service-error.ts';
import { errorCode } from '#server/errors/errno.ts';
import { mapLimit } from '#server/async/map-limit.ts';
import { within, type Within } from '#server/files/open-within.ts';
import { relativePath } from '#server/files/work-directory.ts';

const AT_ONCE = 16;
const BLOBS = 'blobs';
const blobName = /^[0-9a-f]{64}$/;
/** Files that belong to one session: its journal, its lock, its header, its logs. */
const notCopied = /^(?:journal\.ndjson|lock\.|state\.json|logs$)/;
/** Temporary files of atomic writes in progress. */
const unfinished = /\.tmp-/;

/**
 * Copies into `to`, which it creates. Blobs are immutable, so they are hard-linked. Symbolic links and special files
 * are skipped, because agents may have created them.
 */
export async function copySessionFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  await shareBlobs(join(from, BLOBS), join(to, BLOBS));
  const inside = await within({ root: from, additionalDirs: () => [] });
  const tree = { inside, from: await realpath(from), to };
  for (const { name, directory } of await entriesOf(from)) {
    if (name === BLOBS || notCopied.test(name)) continue;
    if (directory) await copyTree(tree, name);
    else if (!unfinished.test(name)) await copyOne(tree, name);
  }
}

async function shareBlobs(from: string, to: string): Promise<void> {
  const names = (await entriesOf(from)).flatMap(({ name }) => (blobName.test(name) ? name : []));
  if (names.length === 0) return;
  await mkdir(to, { mode: 0o700 });
  await mapLimit(names, AT_ONCE, async (name) => {
    const [source, target] = [join(from, name), join(to, name)];
    try {
      await link(source, target);
    } catch {
      // The target is on another file system, or the file system does not support (more) hard links.
      await copyFile(source, target, constants.COPYFILE_FICLONE);
    }
  });
}

interface Tree {
  inside: Within;
  from: string;
  to: string;
}

async function copyTree(tree: Tree, path: string): Promise<void> {
  await mkdir(join(tree.to, path), { mode: 0o700 });
  const entries = await entriesOf(join(tree.from, path));
  const below = entries.map((entry) => ({ ...entry, at: join(path, entry.name) }));
  const files = below.filter(({ name, directory }) => !directory && !unfinished.test(name));
  await mapLimit(files, AT_ONCE, ({ at }) => copyOne(tree, at));
  for (const { directory, at } of below) if (directory) await copyTree(tree, at);
}

/** Copies a regular file; skips it if it was removed or replaced by a link meanwhile. */
async function copyOne({ inside, from, to }: Tree, path: string): Promise<void> {
  try {
    const place = await inside.open(relativePath(path));
    try {
      if (place.real !== join(from, path) || !(await place.stat()).isFile()) return;
      await copyFile(place.at, join(to, path), constants.COPYFILE_FICLONE);
      await place.confirm();
    } finally {
      await place.close();
    }
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' && !(error instanceof ServiceError)) throw error;
  }
}

/** Lists files and directories; empty if the folder does not exist. */
async function entriesOf(path: string): Promise<{ name: string; directory: boolean }[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile() || entry.isDirectory())
      .map((entry) => ({ name: entry.name, directory: entry.isDirectory() }));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
