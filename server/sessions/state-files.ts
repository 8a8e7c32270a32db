/**
 * Keeps each session's `state.json` as its row has it: facts that only these two have at once, what the journal tells
 * some seconds after its last change, off the path of a turn.
 */
import type { Clock } from '#server/clock.ts';
import type { Logger } from '#server/logging/log.ts';
import { syncDirectory } from '#server/files/atomic-write.ts';
import type { SessionIndex } from './session-index.ts';
import { writeStateFile } from './state-file.ts';

const MIRROR_DELAY_MS = 5_000;
/** Looks for a row that changed while its file was written; the minute pass brings no more than that. */
const MAX_ROUNDS = 5;

export interface StateFiles {
  /**
   * Writes the file of the present row; resolves when it outlasts a power failure. Throws what the file system throws.
   */
  write(id: string, dir: string): Promise<void>;
  /** Writes it some seconds from now, however often it is called meanwhile. */
  writeSoon(id: string, dir: string): void;
  /** Writes now what `writeSoon` was called for; a failure is logged. */
  flush(id: string): Promise<void>;
  /** Writes all that waits. */
  close(): Promise<void>;
}

export interface StateFilesDeps {
  index: Pick<SessionIndex, 'stored' | 'mirrored'>;
  log: Logger;
  clock: Clock;
}

export function createStateFiles({ index, log, clock }: StateFilesDeps): StateFiles {
  const waiting = new Map<string, { dir: string; callOff: () => void }>();
  const writing = new Map<string, Promise<void>>();

  /** Another server may write the file of an older row behind this one: each looks again when it is through. */
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

  /** One after the other, each from the row as it then is. */
  function inTurn(id: string, work: () => Promise<void>): Promise<void> {
    const mine = (writing.get(id) ?? Promise.resolve()).then(work, work);
    writing.set(id, mine);
    const forget = () => {
      if (writing.get(id) === mine) writing.delete(id);
    };
    mine.then(forget, forget);
    return mine;
  }

  async function flush(id: string): Promise<void> {
    const entry = waiting.get(id);
    if (!entry) return;
    entry.callOff();
    waiting.delete(id);
    try {
      await inTurn(id, () => writeNow(id, entry.dir));
    } catch (error) {
      // The journal has it all; the next change or load tries again.
      log.error('state.json could not be written', { sessionId: id, err: error });
    }
  }

  return {
    write: (id, dir) =>
      inTurn(id, async () => {
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
      await Promise.allSettled(writing.values());
    },
  };
}
