/** A fold of its own beside those of a log: everything that was recorded so far, then what follows. */
import { createBlobStore } from './blobs.ts';
import { journalFiles } from './journal-files.ts';
import { damagedAt, readBatch, readLines } from './line-reader.ts';
import type { LogListener } from './log-listeners.ts';
import type { Batch } from './records.ts';
import type { SessionLog } from './session-log.ts';

/** What following takes of a log. */
export type FollowedLog = Pick<SessionLog, 'dir' | 'length' | 'unwritten' | 'state' | 'listen'>;

/**
 * Tells a listener of all lines of the log's file, or those behind `from`, and then lets it listen, with no line left out
 * or told twice. When this resolves the listener knows all that the log's own folds know. Throws 50001 of a damaged line.
 */
export async function followLog(log: FollowedLog, listener: LogListener, from = 0): Promise<() => void> {
  // Lines that come meanwhile are read too: each pass is shorter than the one before.
  for (let at = from; at < log.length;) {
    const end = log.length;
    await readPart(log.dir, at, end, listener.line);
    at = end;
  }
  // Nothing is awaited from the last look at the length to here.
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
        // The first line of the file holds no records.
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
