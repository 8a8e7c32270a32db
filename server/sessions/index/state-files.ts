/**
 * Deferred writes of each session's `state.json` from its row. Members that no journal has are written immediately; those
 * derived from the journal some seconds after their last change, so that no turn waits for them.
 */
import { createKeyedQueue } from '#server/async/keyed-queue.ts';
import type { Clock } from '#server/clock.ts';
import type { Logger } from '#server/logging/log.ts';
import { syncDirectory } from '#server/files/atomic-write.ts';
import type { SessionIndex } from './session-index.ts';
import { writeStateFile } from './state-file.ts';

const MIRROR_DELAY_MS = 5_000;
/** How often a file is written again because its row changed meanwhile; the repair pass handles further changes. */
const MAX_ROUNDS = 5;

export interface StateFiles {
  /** Writes the file from the present row and syncs it. Rejects with errors of the file system. */
  write(id: string, dir: string): Promise<void>;
  /** Writes the file after some seconds; calls until then are coalesced. */
  writeSoon(id: string, dir: string): void;
  /** Writes the pending file of `writeSoon` now; a failure is logged. */
  flush(id: string): Promise<void>;
  /** Writes all pending files. */
  close(): Promise<void>;
}

export interface StateFilesDeps {
  index: Pick<SessionIndex, 'stored' | 'mirrored'>;
  log: Logger;
  clock: Clock;
}

export function createStateFiles({ index, log, clock }: StateFilesDeps): StateFiles {
  const waiting = new Map<string, { dir: string; callOff: () => void }>();
  /** Each write starts from the row as it then is. */
  const writes = createKeyedQueue();

  /**
   * Another server may write the file of an older row after this one, so each compares the revision again after
   * writing.
   */
  async function writeNow(id: string, dir: string): Promise<void> {
    let written = 0;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const stored = index.stored(id);
      if (!stored || stored.revision === written) return;
      const stamp = await writeStateFile(dir, stored);
      if (stamp) index.mirrored(id, stored.revision, stamp);
      written = stored.revision;
    }
  }

  async function flush(id: string): Promise<void> {
    const entry = waiting.get(id);
    if (!entry) return;
    entry.callOff();
    waiting.delete(id);
    try {
      await writes.run(id, () => writeNow(id, entry.dir));
    } catch (error) {
      // The journal has the same data; the next change or load writes again.
      log.error('state.json could not be written', { sessionId: id, err: error });
    }
  }

  return {
    write: (id, dir) =>
      writes.run(id, async () => {
        await writeNow(id, dir);
        await syncDirectory(dir);
      }),
    writeSoon(id, dir) {
      if (waiting.has(id)) return;
      waiting.set(id, { dir, callOff: clock.setTimeout(() => void flush(id), MIRROR_DELAY_MS) });
    },
    flush,
    async close() {
      await Promise.all([...waiting.keys()].map(flush));
      await writes.settled();
    },
  };
}
