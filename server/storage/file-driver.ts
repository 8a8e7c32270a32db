/**
 * An unstorage driver over a directory. unstorage's own file drivers write in place; this one never leaves a half
 * written file: temporary file, fsync, rename, fsync of the directory. Failures of the file system reject.
 */
import { readFile, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Driver } from 'unstorage';
import { makeDurableDirectory, syncDirectory, writeFileDurable } from '#server/files/atomic-write.ts';
import { errorCode } from '#server/files/errno.ts';

/** Codes that mean "there is no file of this name": also when a parent is a file, or the name is a directory. */
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'EISDIR']);

/**
 * One path segment for one key segment, reversible, never one that leaves its directory, and never the name of a
 * temporary file (`writeFileAtomic` leaves one behind when the process dies in it).
 */
function encodeSegment(segment: string): string {
  if (segment === '' || segment === '.' || segment === '..') {
    throw new Error(`file driver: a key cannot have the segment ${JSON.stringify(segment)}`);
  }
  return encodeURIComponent(segment).replaceAll('*', '%2A').replaceAll('.tmp-', '%2Etmp-');
}

/** The key segment stored under a file name; undefined for files that no key made. */
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
  /** The directory that has to exist already; `base` by default. */
  home?: string;
}

/** Documents as files under `base`: key `a:b.json` is `a/b.json`. Files get mode 0600, directories 0700. */
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
    /** unstorage leaves the prefix out when it means everything. */
    getKeys: (prefix = '') => keysUnder(prefix.split(':').filter((segment) => segment !== '')),
    /** `version` changes with every write, also by another process. */
    async getMeta(key) {
      const facts = await absentAs(undefined, () => stat(pathOf(key), { bigint: true }));
      if (!facts) return null;
      return { mtime: facts.mtime, version: `${facts.ino}-${facts.size}-${facts.mtimeNs}` };
    },
  };
}
