/**
 * Directories that the user trusts: a marker for each, named after its real path, so that a root and a link to it share
 * one. It persists when the workspace is removed from the registry.
 */
import * as z from 'zod';
import type { Clock } from '#server/clock.ts';
import type { Logger } from '#server/logging/log.ts';
import type { Documents } from '#server/storage/documents.ts';
import { documentOf, type DirectoryDocument } from './directory-document.ts';
import { createForeignChanges } from './foreign-changes.ts';

export interface Trust {
  /** Returns whether the directory is trusted; false if the marker cannot be read. */
  trusted(root: string): Promise<boolean>;
  /** Idempotent: trusting a trusted directory changes nothing. */
  trust(root: string): Promise<void>;
  untrust(root: string): Promise<void>;
  /** Returns the document of a directory's marker; another server may write it. */
  marker(root: string): Promise<string>;
}

export interface TrustDeps {
  documents: Documents;
  /** Called after a change, which completes when the returned promise settles. */
  changed(root: string): Promise<void>;
  /** Called when a read shows that a marker changed after `since` (ms) without a call of this process. */
  changedElsewhere(root: string, trusted: boolean, since: number): void;
  log: Logger;
  clock: Clock;
}

const markerSchema = z.object({ root: z.string(), trustedAt: z.number() });

const markerOf = (root: string) => documentOf('trust', root);

/** Creates the service, without a cache: several servers share the markers. */
export function createTrust({ documents, changed, changedElsewhere, log, clock }: TrustDeps): Trust {
  const markers = createForeignChanges<{ real: string; trusted: boolean }>({
    clock,
    changed: (_before, { real, trusted }, since) => changedElsewhere(real, trusted, since),
  });

  async function isTrusted({ real, key }: DirectoryDocument): Promise<boolean> {
    try {
      const { trusted } = await markers.read(`${key} ${real}`, async () => {
        const marker = await documents.get(key, markerSchema);
        // The key is a short hash; a directory with the same hash can be crafted.
        return { real, trusted: marker?.root === real };
      });
      return trusted;
    } catch (error) {
      log.warn('a trust marker cannot be read; the directory counts as not trusted', { key, err: error });
      return false;
    }
  }

  return {
    trusted: async (root) => isTrusted(await markerOf(root)),
    async trust(root) {
      const at = await markerOf(root);
      if (await isTrusted(at)) return;
      const marker = { root: at.real, trustedAt: clock.now() };
      await markers.own(() => documents.set(at.key, markerSchema, marker));
      await changed(at.real);
    },
    async untrust(root) {
      const at = await markerOf(root);
      await markers.own(() => documents.remove(at.key));
      await changed(at.real);
    },
    marker: async (root) => (await markerOf(root)).key,
  };
}
