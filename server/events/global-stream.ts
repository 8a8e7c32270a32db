/** The stream `__global__` of events that belong to no session (ws-events.md §6.1, §7.1, §9.15). */
import { join } from 'node:path';
import { newUlid } from '#server/ids.ts';
import type { Logger } from '#server/logging/log.ts';
import type { GlobalFields, GlobalType } from '#schema/events/catalogue.ts';
import { openFileStore, createMemoryStore } from './global-stream-file.ts';
import type { FrameStore } from './global-stream-file.ts';
import { GLOBAL_STREAM, frameText } from './frame.ts';
import type { EventFrame, EventSink, StreamPosition } from './frame.ts';
import type { StreamSource } from './stream-source.ts';

export interface GlobalStream extends StreamSource {
  /**
   * Numbers, keeps and sends an event. `sessionId` is the payload's routing id where it is a real session's
   * (`event.session.archived`). Never throws for a full disk: the stream goes on in memory with a new epoch.
   */
  publish<T extends GlobalType>(type: T, fields: GlobalFields<T>, options?: { sessionId?: string }): void;
  close(): void;
}

export interface GlobalStreamDeps {
  /** Home directory; the stream's file is `events/global.ndjson` in it. */
  home: string;
  /** Whether this server is the oldest live one of the home. Asked once, at creation. */
  owns(): boolean | Promise<boolean>;
  sink: EventSink;
  log: Logger;
}

const newEpoch = () => `ep_${newUlid()}`;

async function openStore({ home, owns, log }: GlobalStreamDeps): Promise<FrameStore> {
  if (!(await owns())) return createMemoryStore(newEpoch());
  try {
    return await openFileStore(join(home, 'events', 'global.ndjson'), newEpoch(), log);
  } catch (error) {
    log.error('global event stream kept in memory', { err: error });
    return createMemoryStore(newEpoch());
  }
}

/** Opens the stream of the home, or one of this server's own. */
export async function createGlobalStream(deps: GlobalStreamDeps): Promise<GlobalStream> {
  const { sink, log } = deps;
  let store = await openStore(deps);

  const position = (): StreamPosition => ({ seq: store.seq, epoch: store.epoch });

  function nextFrame(type: GlobalType, fields: object, sessionId: string): EventFrame {
    const payload = { type, ...fields, agentId: 'main', sessionId };
    return { type, seq: store.seq + 1, sessionId: GLOBAL_STREAM, time: Date.now(), payload, epoch: store.epoch };
  }

  return {
    publish(type, fields, { sessionId = GLOBAL_STREAM } = {}) {
      let frame = nextFrame(type, fields, sessionId);
      try {
        store.append(frameText(frame));
      } catch (error) {
        log.error('global event not written, stream continues in memory', { err: error });
        store.close();
        store = createMemoryStore(newEpoch());
        frame = nextFrame(type, fields, sessionId);
        store.append(frameText(frame));
      }
      sink.publish(frame);
    },
    exists: async (sessionId) => sessionId === GLOBAL_STREAM,
    position: async () => position(),
    livePosition: position,
    async *replay(_sessionId, after, upTo) {
      const texts = store.recent();
      const first = store.seq - texts.length + 1;
      yield* texts.slice(Math.max(0, after + 1 - first), Math.max(0, upTo + 1 - first));
    },
    close: () => store.close(),
  };
}
