import { errorCode } from '#server/errors/errno.ts';
import { journalFiles } from './journal-files.ts';
import { damagedAt } from './line-reader.ts';

/**
 * Throws `internal.error` for a journal that lost its records, as after a power cut: an empty file where `length` bytes
 * were written. Read as a journal without records, it would start again and hide the loss.
 */
export async function assertNotEmptied(dir: string, length: number): Promise<void> {
  if (length === 0) return;
  const file = await journalFiles.openToRead(dir).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (!file) return;
  try {
    if ((await file.size()) === 0) throw damagedAt(0);
  } finally {
    await file.close();
  }
}
