/** Changes of token files, serialized for each slot across the server processes of a home. */
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createChangeLock } from '#server/storage/change-lock.ts';
import type { Documents } from '#server/storage/documents.ts';
import type { LeaseHolder } from '#server/storage/lease.ts';
import { isOAuthLockDisabled } from './cloud-settings.ts';
import { tokenDocument, tokenSchema, type StoredToken } from './token-files.ts';

/** Longer than the attempts of a renewal of another server, which run under the lock. */
const MAX_WAIT_MS = 60_000;
/** Longer than any write of another server that has begun. */
const REMOVAL_WAIT_MS = 5000;

/** Writes one token file. Both functions throw `persistence.failure`. */
export interface TokenWriter {
  write(token: StoredToken): Promise<void>;
  remove(): Promise<void>;
}

export interface TokenChanges {
  /**
   * Runs `work` under the lock of a slot and passes it the writer. Throws `persistence.failure` when the lock cannot be
   * acquired, and when another process took it over before a write (fencing).
   */
  change<T>(name: string, work: (writer: TokenWriter) => Promise<T>): Promise<T>;
  /**
   * Removes a token file, also while another server renews the token: that server reads the file again before it
   * writes. Throws `persistence.failure`.
   */
  remove(name: string): Promise<void>;
}

export interface TokenChangesDeps {
  home: string;
  documents: Documents;
  holder: LeaseHolder;
  env: () => NodeJS.ProcessEnv;
}

export function createTokenChanges({ home, documents, holder, env }: TokenChangesDeps): TokenChanges {
  const writerOf = (name: string): TokenWriter => ({
    write: (token) => documents.set(tokenDocument(name), tokenSchema, token),
    remove: () => documents.remove(tokenDocument(name)),
  });

  async function change<T>(
    name: string,
    work: (writer: TokenWriter) => Promise<T>,
    maxWaitMs = MAX_WAIT_MS,
  ): Promise<T> {
    const writer = writerOf(name);
    if (isOAuthLockDisabled(env())) return work(writer);
    const path = join(home, 'oauth', `${name}.lock`);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return createChangeLock({ path, holder, writer, maxWaitMs }).hold(work);
  }

  return {
    change: (name, work) => change(name, work),
    async remove(name) {
      const { remove } = writerOf(name);
      // Without the lock, because its owner may wait for a reply longer than a person does.
      await remove();
      // Again, because the owner may have read the file before its removal and written it afterwards.
      await change(name, (writer) => writer.remove(), REMOVAL_WAIT_MS).catch(remove);
    },
  };
}
