/**
 * The record of additional directories that the user has added to a project on this machine. A project's own file may
 * list any directory; without this record a cloned project would widen where tools work.
 */
import { realpath } from 'node:fs/promises';
import * as z from 'zod';
import type { Documents } from '#server/storage/documents.ts';
import { documentOf } from './directory-document.ts';

export interface ConfirmedDirs {
  /** Returns real paths. Throws `persistence.failure` when the record cannot be read. */
  of(projectRoot: string): Promise<readonly string[]>;
  /** Adds an existing directory; called only under the change lock. Throws `persistence.failure`. */
  add(projectRoot: string, directory: string): Promise<void>;
}

/** Real paths: a directory that was replaced by a link to another one is no longer confirmed. */
const recordSchema = z.object({ root: z.string(), directories: z.array(z.string()) });

/** Creates the service, without a cache: several servers share the records. */
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
