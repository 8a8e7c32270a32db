/** The document `plugins/checksums.json`: SHA-256 of the zip archives that the last good catalog names, by address. */
import * as z from 'zod';
import type { Documents } from '#server/storage/documents.ts';

const DOCUMENT = 'plugins:checksums.json';
export const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);
const schema = z.record(z.string(), sha256Schema);

export interface Checksums {
  /** Undefined for an address without one. Throws `persistence.failure`. */
  of(url: string): Promise<string | undefined>;
  /** Replaces all of them. Throws `persistence.failure`. */
  replace(checksums: ReadonlyMap<string, string>): Promise<void>;
}

export function createChecksums(documents: Pick<Documents, 'get' | 'set'>): Checksums {
  return {
    async of(url) {
      const all = await documents.get(DOCUMENT, schema);
      return all && Object.hasOwn(all, url) ? all[url] : undefined;
    },
    replace: (checksums) => documents.set(DOCUMENT, schema, Object.fromEntries(checksums)),
  };
}
