/**
 * unstorage driver for a directory. unstorage's file drivers write in place; this one writes atomically and durably:
 * temporary file, fsync, rename, fsync of the directory. Errors of the file system reject.
 */
import { readFile, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Driver } from 'unstorage';
import { makeDurableDirectory, syncDirectory, writeFileDurable } from '#server/files/atomic-write.ts';
import { errorCode } from '#server/errors/errno.ts';

/** Codes for a missing file, including a parent that is a file and a name that is a directory. */
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'EISDIR']);

/**
 * Encodes a key segment as a path segment: reversible, never one that leaves its directory, and never the name of a
 * temporary file (`writeFileAtomic` leaves one if the process dies during a write).
 */
function encodeSegment(segment: string): string {
  if (segment === '' || segment === '.' || segment === '..') {
    throw new Error(`file driver: a key cannot have the segment ${JSON.stringify(segment)}`);
  }
  return encodeURIComponent(segment).replaceAll('*', '%2A').replaceAll('.tmp-', '%2Etmp-');
}

/** Decodes a file name to its key segment; undefined for files that this driver did not create. */
function decodeSegment(name: string): string | undefined {
  try {
    const segment = decodeURIComponent(name);
    return encodeSegment(segment) === name ? segment : undefined;
  } catch {
    return undefined;
  }
}

async function absentAs<T, A>(absent: A, read: () => Promise<T>): Promise<T | A> {
  try {
    return await read();
  } catch (error) {
    if (ABSENT.has(errorCode(error) ?? '')) return absent;
    throw error;
  }
}

export interface FileDriverOptions {
  base: string;
  /** Directory that must exist already; default: `base`. */
  home?: string;
}

/** Stores documents as files in `base`: key `a:b.json` is `a/b.json`. File mode 0600, directory mode 0700. */
export function fileDriver({ base, home = base }: FileDriverOptions): Driver {
  const pathOf = (key: string) => join(base, ...key.split(':').map(encodeSegment));

  async function keysUnder(prefix: string[]): Promise<string[]> {
    const directory = join(base, ...prefix.map(encodeSegment));
    const entries = await absentAs([], () => readdir(directory, { withFileTypes: true }));
    const found = entries.map(async (entry) => {
      const segment = decodeSegment(entry.name);
      if (segment === undefined) return [];
      if (entry.isDirectory()) return keysUnder([...prefix, segment]);
      return entry.isFile() ? [[...prefix, segment].join(':')] : [];
    });
    return (await Promise.all(found)).flat();
  }

  return {
    name: 'service-code-files',
    hasItem: async (key) => (await absentAs(undefined, () => stat(pathOf(key))))?.isFile() ?? false,
    getItem: (key) => absentAs(null, () => readFile(pathOf(key), 'utf8')),
    async setItem(key, value) {
      const path = pathOf(key);
      await makeDurableDirectory(home, dirname(path));
      await writeFileDurable(path, value);
    },
    async removeItem(key) {
      const path = pathOf(key);
      try {
        await rm(path);
        await syncDirectory(dirname(path));
      } catch (error) {
        if (!ABSENT.has(errorCode(error) ?? '')) throw error;
      }
    },
    /** unstorage omits the prefix to request all keys. */
    getKeys: (prefix = '') => keysUnder(prefix.split(':').filter((segment) => segment !== '')),
    /** `version` changes with every write, also by other processes. */
    async getMeta(key) {
      const facts = await absentAs(undefined, () => stat(pathOf(key), { bigint: true }));
      if (!facts) return null;
      return { mtime: facts.mtime, version: `${facts.ino}-${facts.size}-${facts.mtimeNs}` };
    },
  };
}
