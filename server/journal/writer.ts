/** Appends to a journal file: each write is complete or has no effect. */
import { journalFiles, type JournalFiles } from './journal-files.ts';

/** Milliseconds between the first unsynced byte and the background `fdatasync`. */
export const SYNC_DELAY_MS = 250;

export interface JournalWriter {
  /** Bytes of complete lines. */
  length(): number;
  /**
   * Passes the text to the operating system. On an error or a short write it truncates the file to the last complete
   * line and throws. It throws without writing when `fence` throws or the file does not have the expected length. No
   * write follows a failed one.
   */
  write(text: string): void;
  /** Waits until everything written is on the disk. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface WriterOptions {
  /** Called before each change of the file; throws when another server owns the session. */
  fence(): void;
  /** Bytes of complete lines; torn bytes after them are truncated. */
  length: number;
  /** Runs before each `fdatasync`: files to which the lines refer must be on the disk first. */
  beforeSync(): Promise<void>;
  /** Called when a sync in the background failed. */
  onSyncError(error: unknown): void;
  files?: JournalFiles | undefined;
}

/** Opens the journal in a folder for writing, creating it if it is missing. Throws errors of the file system. */
export function openWriter(dir: string, options: WriterOptions): JournalWriter {
  const file = (options.files ?? journalFiles).openToWrite(dir);
  let { length } = options;
  let timer: NodeJS.Timeout | undefined;
  let dirty = false;
  let failure: { error: unknown } | undefined;
  let syncing: Promise<void> = Promise.resolve();
  try {
    // Fencing: this process may have been suspended while it read the journal.
    options.fence();
    file.truncate(length);
  } catch (error) {
    file.close();
    throw error;
  }

  async function syncNow(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (!dirty) return;
    dirty = false;
    await options.beforeSync();
    await file.sync();
  }

  /** Serialized, so that `close` never closes a descriptor in use. */
  function sync(): Promise<void> {
    const next = syncing.then(syncNow);
    syncing = next.catch(() => undefined);
    return next;
  }

  function schedule(): void {
    dirty = true;
    timer ??= setTimeout(() => {
      sync().catch(options.onSyncError);
    }, SYNC_DELAY_MS).unref();
  }

  function put(bytes: Buffer): void {
    try {
      const written = file.write(bytes, length);
      if (written < bytes.length) {
        throw new Error(`only ${written} of ${bytes.length} bytes could be written: is the disk full?`);
      }
    } catch (error) {
      // A larger file was written by another process and must not be truncated.
      if (file.size() <= length + bytes.length) file.truncate(length);
      throw error;
    }
  }

  return {
    length: () => length,
    write(text) {
      if (failure) throw failure.error;
      const bytes = Buffer.from(text, 'utf8');
      try {
        options.fence();
        const size = file.size();
        if (size !== length) throw new Error(`the file has ${size} bytes and not ${length}: somebody else writes it`);
        put(bytes);
      } catch (error) {
        failure = { error };
        throw error;
      }
      length += bytes.length;
      schedule();
    },
    sync,
    async close() {
      try {
        await sync();
      } finally {
        file.close();
      }
    },
  };
}
