/** Unpacks a zip archive that anyone may have written. */
import { chmod, mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Entry, ZipFile } from 'yauzl';
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import { createEntryNames } from './entry-names.ts';
import { hasManifest } from './manifest.ts';
import { NotStored, stored } from './stored.ts';
import { createBudget, type Budget, type SizeLimits } from './unpack-limits.ts';

/** Hosts that store Unix modes: Unix and macOS. */
const UNIX_HOSTS = new Set([3, 19]);
const TYPE_MASK = 0o170000;
const SYMLINK = 0o120000;
/** Without the bits that change the user or the group of a program. */
const PERMISSIONS = 0o777;
const DEFAULT_FILE_MODE = 0o644;
const DEFAULT_FOLDER_MODE = 0o755;
/** Longer reasons contain names of the archive. */
const MAX_REASON_CHARS = 300;

/** The permission bits of an entry; the owner can always read and replace it. */
function modeOf({ versionMadeBy, externalFileAttributes }: Entry, isFolder: boolean): number {
  const unix = UNIX_HOSTS.has(versionMadeBy >>> 8) ? externalFileAttributes >>> 16 : 0;
  const fallback = isFolder ? DEFAULT_FOLDER_MODE : DEFAULT_FILE_MODE;
  // The target of a link is written into a plain file, to which the link's bits do not apply.
  const own = (unix & TYPE_MASK) === SYMLINK ? fallback : unix & PERMISSIONS || fallback;
  return own | (isFolder ? 0o700 : 0o600);
}

/** Writes one file and checks its size and its checksum. */
async function writeEntry(zip: ZipFile, entry: Entry, path: string, budget: Budget): Promise<void> {
  // Opened first, so that the content is read as soon as it comes: an error before that would have no listener.
  const file = await stored(open(path, 'wx', 0o600));
  try {
    const content = await zip.openReadStreamPromise(entry);
    let sum = 0;
    for await (const chunk of content as AsyncIterable<Buffer>) {
      budget.bytes(chunk.length);
      sum = crc32(chunk, sum);
      await stored(file.writeFile(chunk));
    }
    if (sum !== entry.crc32) throw new Error('the checksum of an entry is wrong');
    await stored(file.chmod(modeOf(entry, false)));
  } finally {
    await file.close();
  }
}

async function unpackInto(target: string, zip: ZipFile, limits: SizeLimits, signal: AbortSignal): Promise<void> {
  const budget = createBudget(limits);
  const names = createEntryNames(limits.maxEntries);
  await stored(mkdir(target, { mode: 0o700 }));
  for await (const entry of zip.eachEntry()) {
    signal.throwIfAborted();
    budget.entry();
    const { path, isFolder, newFolders } = names.add(entry.fileName);
    for (const folder of newFolders) await stored(mkdir(join(target, folder), { mode: DEFAULT_FOLDER_MODE }));
    if (isFolder) {
      await stored(chmod(join(target, path), modeOf(entry, true)));
      continue;
    }
    if (!entry.canDecodeFileData()) throw new Error('an entry is encrypted or has an unknown compression method');
    await writeEntry(zip, entry, join(target, path), budget);
  }
}

/**
 * Unpacks the archive into `target`, which it creates. Throws `validation.failed` for anything that is wrong with the
 * archive, `NotStored`, and the signal's reason; a part may be unpacked then.
 */
export async function unpack(archive: string, target: string, limits: SizeLimits, signal: AbortSignal): Promise<void> {
  const { openPromise } = await import('yauzl');
  try {
    // Names are validated by yauzl too: `..`, absolute paths and drive letters.
    const zip = await openPromise(archive, { autoClose: false, lazyEntries: true, validateEntrySizes: true });
    try {
      await unpackInto(target, zip, limits, signal);
    } finally {
      zip.close();
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof NotStored) throw error;
    const reason = errorMessage(error).slice(0, MAX_REASON_CHARS);
    throw new ServiceError('validation.failed', `Failed to unpack zip: ${reason}`, { cause: error });
  }
}

/** The directory of the plugin in an unpacked archive: its top, or the only top directory if that has the manifest. */
export async function pluginTop(unpacked: string): Promise<string> {
  if (await hasManifest(unpacked)) return unpacked;
  const folders = (await readdir(unpacked, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  const [only] = folders;
  if (folders.length !== 1 || !only) return unpacked;
  const inner = join(unpacked, only.name);
  return (await hasManifest(inner)) ? inner : unpacked;
}
