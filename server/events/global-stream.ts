/** The stream `__global__` of events that belong to no session. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { newUlid } from '#server/ids.ts';
import type { Logger } from '#server/logging/log.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { GlobalFields, GlobalType, VolatileGlobalFields, VolatileGlobalType } from '#schema/events/catalogue.ts';
import { openFileStore, createMemoryStore } from './global-stream-file.ts';
import type { FrameStore } from './global-stream-file.ts';
import { GLOBAL_STREAM, frameText } from './frame.ts';
import type { EventFrame, EventSink, StreamPosition } from './frame.ts';
import type { StreamSource } from './stream-source.ts';

export interface GlobalStream extends StreamSource {
  /**
   * Numbers, stores and publishes an event. `sessionId` is the payload's routing id where a session is meant
   * (`event.session.archived`). A full disk does not throw: the stream continues in memory with a new epoch.
   */
  publish<T extends GlobalType>(type: T, fields: GlobalFields<T>, options?: { sessionId?: string }): void;
  /** Publishes an event that is neither numbered nor stored: it has the watermark as `seq`. */
  publishVolatile<T extends VolatileGlobalType>(type: T, fields: VolatileGlobalFields<T>): void;
  close(): Promise<void>;
}

export interface FolderClaim {
  /** The file store calls it before each write. Throws when another server owns the folder. */
  fence(): void;
  release(): Promise<void>;
}

export interface GlobalStreamDeps {
  /** Home directory; the stream's file is `events/global.ndjson` in it. */
  home: string;
  /** Makes this server the only writer of a folder; undefined when another server is. Called once, at creation. */
  claim(folder: string): Promise<FolderClaim | undefined>;
  sink: EventSink;
  log: Logger;
}

const newEpoch = () => `ep_${newUlid()}`;

/** The first server that claims the folder owns the file until it exits; other servers stay in memory. */
async function openStore({
  home,
  claim,
  log,
}: GlobalStreamDeps): Promise<{ store: FrameStore; held: FolderClaim | undefined }> {
  let held: FolderClaim | undefined;
  try {
    const folder = join(home, 'events');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    held = await claim(folder);
    if (held) {
      const path = join(folder, 'global.ndjson');
      return { store: await openFileStore({ path, newEpoch: newEpoch(), fence: held.fence, log }), held };
    }
  } catch (error) {
    log.error('global event stream kept in memory', { err: error });
  }
  return { store: createMemoryStore(newEpoch()), held };
}

/** Opens the home's stream, or a stream in memory for this server only. */
export async function createGlobalStream(deps: GlobalStreamDeps): Promise<GlobalStream> {
  const { sink, log } = deps;
  let { store, held } = await openStore(deps);

  const position = (): StreamPosition => ({ seq: store.seq, epoch: store.epoch });

  function frameOf(type: string, seq: number, fields: object, sessionId: string): EventFrame {
    const payload = { type, ...fields, agentId: MAIN_AGENT, sessionId };
    return { type, seq, sessionId: GLOBAL_STREAM, time: Date.now(), payload, epoch: store.epoch };
  }
  const nextFrame = (type: GlobalType, fields: object, sessionId: string) =>
    frameOf(type, store.seq + 1, fields, sessionId);

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
    publishVolatile(type, fields) {
      sink.publish({ ...frameOf(type, store.seq, fields, GLOBAL_STREAM), volatile: true });
    },
    exists: async (sessionId) => sessionId === GLOBAL_STREAM,
    position: async () => position(),
    livePosition: position,
    async *replay(_sessionId, after, upTo) {
      const texts = store.recent();
      const first = store.seq - texts.length + 1;
      yield* texts.slice(Math.max(0, after + 1 - first), Math.max(0, upTo + 1 - first));
    },
    async close() {
      store.close();
      const claimed = held;
      held = undefined;
      await claimed?.release();
    },
  };
}
