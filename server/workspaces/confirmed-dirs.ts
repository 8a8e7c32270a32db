/**
 * Which additional directories the user has added to a project on this machine. A project's own file may list any
 * directory; without this record a cloned one would widen where tools work.
 */
import { realpath } from 'node:fs/promises';
import { z } from 'zod';
import type { Documents } from '#server/storage/documents.ts';
import { documentOf } from './directory-document.ts';

export interface ConfirmedDirs {
  /** Real paths. Throws 50003 when the record cannot be read. */
  of(projectRoot: string): Promise<readonly string[]>;
  /** Adds an existing directory; called only through the change lock. Throws 50003. */
  add(projectRoot: string, directory: string): Promise<void>;
}

/** Real paths: a directory of the project that is replaced by a link to elsewhere is no longer the confirmed one. */
const recordSchema = z.object({ root: z.string(), directories: z.array(z.string()) });

/** Reads at each call: several servers share the records. */
export function createConfirmedDirs(documents: Documents): ConfirmedDirs {
  const recordOf = (projectRoot: string) => documentOf('additional-dirs', projectRoot);

  async function read(projectRoot: string): Promise<readonly string[]> {
    const { real, key } = await recordOf(projectRoot);
    const record = await documents.get(key, recordSchema);
    return record?.root === real ? record.directories : [];
  }

  return {
    of: read,
    async add(projectRoot, directory) {
      const before = await read(projectRoot);
      const confirmed = await realpath(directory);
      if (before.includes(confirmed)) return;
      const { real, key } = await recordOf(projectRoot);
      await documents.set(key, recordSchema, { root: real, directories: [...before, confirmed] });
    },
  };
}
