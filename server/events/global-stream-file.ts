/** Where the stream `__global__` is kept: in a file by the one server of a home that claimed it, else in memory. */
import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { mkdir, open, readFile, rm, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import type { Logger } from '#server/logging/log.ts';
import { writeFileAtomic } from '#server/files/atomic-write.ts';
import { errorCode } from '#server/files/errno.ts';
import { REPLAY_WINDOW_EVENTS } from './cursor.ts';

/** Frames in the file at which it is rewritten with those of the replay window. */
export const COMPACT_AT_FRAMES = 4 * REPLAY_WINDOW_EVENTS;
/** From a frame to the `fdatasync` in the background that takes it along. */
const SYNC_DELAY_MS = 250;

export interface FrameStore {
  readonly epoch: string;
  /** Number of the last frame, 0 when there never was one. */
  readonly seq: number;
  /** Texts of the last frames up to `seq`, the replay window at least if there were so many. */
  recent(): readonly string[];
  /** Keeps the frame numbered `seq + 1`. Throws when the disk refuses it, and has kept nothing then. */
  append(text: string): void;
  close(): void;
}

/** The last frames in memory, of bounded number. */
function createRecent(texts: string[]) {
  let kept = texts.slice(-REPLAY_WINDOW_EVENTS);
  return {
    list: (): readonly string[] => kept,
    add(text: string) {
      kept.push(text);
      if (kept.length > 2 * REPLAY_WINDOW_EVENTS) kept = kept.slice(-REPLAY_WINDOW_EVENTS);
    },
  };
}

/** A stream that ends with the process. */
export function createMemoryStore(epoch: string): FrameStore {
  const recent = createRecent([]);
  let seq = 0;
  return {
    epoch,
    get seq() {
      return seq;
    },
    recent: recent.list,
    append(text) {
      recent.add(text);
      seq += 1;
    },
    close() {},
  };
}

const headerSchema = z.object({
  type: z.literal('metadata'),
  format: z.literal(1),
  stream: z.literal('__global__'),
  epoch: z.string(),
  created_at: z.number(),
});
const numberedFrame = z.object({ seq: z.number().int().min(1) });

interface StoredStream {
  header: string;
  epoch: string;
  seq: number;
  texts: string[];
}

/** The stream that complete lines hold; undefined when they are not one without gaps. */
function parseLines([header = '', ...texts]: string[]): StoredStream | undefined {
  try {
    const { epoch } = headerSchema.parse(JSON.parse(header));
    let seq = 0;
    for (const text of texts) {
      const next = numberedFrame.parse(JSON.parse(text)).seq;
      if (seq !== 0 && next !== seq + 1) return undefined;
      seq = next;
    }
    return { header, epoch, seq, texts };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return undefined;
    throw error;
  }
}

function newStream(epoch: string): StoredStream {
  const header = { type: 'metadata', format: 1, stream: '__global__', epoch, created_at: Date.now() };
  return { header: JSON.stringify(header), epoch, seq: 0, texts: [] };
}

const asLines = (texts: readonly string[]): Buffer => Buffer.from(texts.map((text) => `${text}\n`).join(''));

/** Reads what the file holds, mends a torn end, or writes a new file for a stream of the given epoch. */
async function load(path: string, newEpoch: string, log: Logger): Promise<StoredStream & { length: number }> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const bytes = await readFile(path).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (bytes) {
    const length = bytes.lastIndexOf('\n') + 1;
    const found = parseLines(bytes.toString('utf8', 0, length).split('\n').slice(0, -1));
    if (found) {
      if (length < bytes.length) await truncate(path, length);
      return { ...found, length };
    }
    log.error('global event stream unreadable, started anew', { path });
  }
  const stream = newStream(newEpoch);
  const start = asLines([stream.header]);
  await writeFileAtomic(path, start);
  return { ...stream, length: start.length };
}

export interface FileStoreOptions {
  path: string;
  /** The epoch of a stream that starts over because its file is missing or unreadable. */
  newEpoch: string;
  /** Called before each write; throws when another server owns the file now. */
  fence(): void;
  log: Logger;
}

/**
 * Opens the stream's file: a header line with the epoch, then each frame on a line as it was sent. A torn last line is
 * truncated.
 */
export async function openFileStore({ path, newEpoch, fence, log }: FileStoreOptions): Promise<FrameStore> {
  const stored = await load(path, newEpoch, log);
  const recent = createRecent(stored.texts);
  let { seq, length } = stored;
  let frames = stored.texts.length;
  let fd = openSync(path, 'a', 0o600);
  let syncTimer: NodeJS.Timeout | undefined;
  let closed = false;
  let mayCompact = true;
  /** Frames written while the file is being rewritten, so missing in the new one. */
  let late: string[] | undefined;

  function syncLater(): void {
    syncTimer ??= setTimeout(() => {
      syncTimer = undefined;
      const synced = fd;
      fdatasync(synced, (error) => {
        // A descriptor that was replaced or closed meanwhile had its own sync.
        if (error && synced === fd && !closed) log.error('global event stream not synced', { err: error });
      });
    }, SYNC_DELAY_MS).unref();
  }

  async function compact(): Promise<void> {
    const added: string[] = [];
    late = added;
    const temporary = `${path}.tmp-${process.pid}`;
    const start = asLines([stored.header, ...recent.list()]);
    const kept = recent.list().length;
    const file = await open(temporary, 'w', 0o600);
    try {
      await file.writeFile(start);
      await file.sync();
    } finally {
      await file.close();
    }
    if (closed) {
      await rm(temporary, { force: true });
      return;
    }
    // Nothing is awaited from here on, so that no frame falls between the two files.
    const end = asLines(added);
    const next = openSync(temporary, 'a');
    try {
      if (writeSync(next, end) !== end.length) throw new Error('short write');
      fdatasyncSync(next);
      fence();
      renameSync(temporary, path);
    } catch (error) {
      closeSync(next);
      await rm(temporary, { force: true });
      throw error;
    }
    closeSync(fd);
    fd = next;
    frames = kept + added.length;
    length = start.length + end.length;
    late = undefined;
  }

  return {
    epoch: stored.epoch,
    get seq() {
      return seq;
    },
    recent: recent.list,
    append(text) {
      const line = asLines([text]);
      fence();
      const { size, nlink } = fstatSync(fd);
      // A server that slept may have been taken for dead: what the next owner wrote is left alone.
      if (size !== length || nlink === 0) throw new Error('another server writes the global event stream');
      try {
        if (writeSync(fd, line) !== line.length) throw new Error('short write');
      } catch (error) {
        ftruncateSync(fd, length);
        throw error;
      }
      length += line.length;
      frames += 1;
      seq += 1;
      recent.add(text);
      late?.push(text);
      syncLater();
      if (!mayCompact || late || frames < COMPACT_AT_FRAMES) return;
      compact().catch((error: unknown) => {
        late = undefined;
        mayCompact = false;
        log.error('global event stream not compacted', { err: error });
      });
    },
    close() {
      if (closed) return;
      closed = true;
      clearTimeout(syncTimer);
      try {
        fdatasyncSync(fd);
      } catch (error) {
        log.error('global event stream not synced', { err: error });
      } finally {
        closeSync(fd);
      }
    },
  };
}
