/** An additional fold of a log: all recorded lines, then the live ones. */
import { createBlobStore } from './blobs.ts';
import { journalFiles } from './journal-files.ts';
import { damagedAt, readBatch, readLines } from './line-reader.ts';
import type { LogListener } from './log-listeners.ts';
import type { Batch } from './records.ts';
import type { SessionLog } from './session-log.ts';

/** The part of a log that following needs. */
export type FollowedLog = Pick<SessionLog, 'dir' | 'length' | 'unwritten' | 'state' | 'listen'>;

/**
 * Passes the log's lines, or those after offset `from`, to a listener and then adds it, with none omitted or repeated.
 * On resolution the listener has all that the log's folds have. Throws `internal.error` for a damaged line.
 */
export async function followLog(log: FollowedLog, listener: LogListener, from = 0): Promise<() => void> {
  // Lines appended meanwhile are read too: each pass is shorter than the one before.
  for (let at = from; at < log.length;) {
    const end = log.length;
    await readPart(log.dir, at, end, listener.line);
    at = end;
  }
  // No await between the last check of the length and `listen`, so that no line is missed.
  const { unwritten: records } = log;
  if (records.length > 0) listener.line({ t: log.state.lastTime, records });
  return log.listen(listener);
}

async function readPart(dir: string, start: number, end: number, tell: (batch: Batch) => void): Promise<void> {
  const blobs = createBlobStore(dir);
  const file = await journalFiles.openToRead(dir);
  try {
    for await (const lines of readLines(file, start, end)) {
      for (const line of lines) {
        // The first line of the file is the header.
        if (line.offset === 0) continue;
        const reading = readBatch(line, blobs);
        const batch = reading instanceof Promise ? await reading : reading;
        try {
          tell(batch);
        } catch (error) {
          throw damagedAt(line.offset, error);
        }
      }
    }
  } finally {
    await file.close();
  }
}
