/** The event streams of sessions: from the log of a loaded session, from the files of a cold one. */
import type { StreamPosition } from '#server/events/frame.ts';
import type { StreamSource } from '#server/events/stream-source.ts';
import { lockOwner } from '#server/journal/lock.ts';
import { readPosition, replayCold } from '#server/journal/replay.ts';
import type { LeaseHolder } from '#server/storage/lease.ts';
import type { SessionHeader } from '../index/session-header.ts';
import type { SessionIndex } from '../index/session-index.ts';
import type { LoadedSessions } from './session-place.ts';

export interface SessionStreamsDeps {
  index: Pick<SessionIndex, 'ready' | 'get'>;
  live: LoadedSessions & { open(id: string): Promise<unknown> };
  holder: LeaseHolder;
  /** Throws `session.not_found`. */
  rowOf(id: string): SessionHeader;
}

export function createSessionStreams({ index, live, holder, rowOf }: SessionStreamsDeps): StreamSource {
  return {
    async exists(id) {
      await index.ready();
      return index.get(id) !== undefined;
    },
    async position(id): Promise<StreamPosition> {
      const row = rowOf(id);
      const dir = live.directory(row);
      // A session that runs in another process is left alone; one that a killed server left open is settled, which
      // publishes events.
      if (row.open && !live.get(id) && !(await lockOwner(dir, holder))) await live.open(id);
      return live.get(id)?.log.position() ?? readPosition(dir);
    },
    livePosition: (id) => live.get(id)?.log.position(),
    replay(id, after, upTo) {
      return live.get(id)?.log.replay(after, upTo) ?? replayCold(live.directory(rowOf(id)), after, upTo);
    },
  };
}
