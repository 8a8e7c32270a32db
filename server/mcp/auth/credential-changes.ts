/** Changes of stored credentials, serialized for each credential across the server processes of a home. */
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createChangeLock } from '#server/storage/change-lock.ts';
import type { Documents } from '#server/storage/documents.ts';
import type { LeaseHolder } from '#server/storage/lease.ts';
import { credentialSchemas, documentKey, type Kind, type Stored } from './credentials.ts';

/** Wait for the lock: longer than the renewal request of another process, which runs under it. */
const MAX_WAIT_MS = 35_000;

/** Writes the documents of one credential. */
export interface CredentialWriter {
  write<K extends Kind>(kind: K, value: Stored<K>): Promise<void>;
  remove(kind: Kind): Promise<void>;
}

/**
 * Runs `work` under the lock of a credential and passes it the writer. Throws `persistence.failure` when the lock
 * cannot be acquired, and when another process took it over before a write (fencing).
 */
export type ChangeCredential = <T>(id: string, work: (writer: CredentialWriter) => Promise<T>) => Promise<T>;

export interface CredentialChangesDeps {
  home: string;
  documents: Documents;
  holder: LeaseHolder;
}

export function createCredentialChanges({ home, documents, holder }: CredentialChangesDeps): ChangeCredential {
  return async (id, work) => {
    const path = join(home, 'credentials', 'mcp', `${id}.lock`);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const writer: CredentialWriter = {
      write: (kind, value) => documents.set(documentKey(id, kind), credentialSchemas[kind], value),
      remove: (kind) => documents.remove(documentKey(id, kind)),
    };
    return createChangeLock({ path, holder, writer, maxWaitMs: MAX_WAIT_MS }).hold(work);
  };
}
