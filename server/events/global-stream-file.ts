/** Storage of the stream `__global__`: a file for the one server that claimed the home, memory for the others. */
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
import * as z from 'zod';
import type { Logger } from '#server/logging/log.ts';
import { writeFileAtomic } from '#server/files/atomic-write.ts';
import { errorCode } from '#server/errors/errno.ts';
import { REPLAY_WINDOW_EVENTS } from './cursor.ts';

/** Number of frames in the file that triggers a rewrite with only those of the replay window. */
export const COMPACT_AT_FRAMES = 4 * REPLAY_WINDOW_EVENTS;
/** Delay between a frame and the background `fdatasync` that covers it. */
const SYNC_DELAY_MS = 250;

export interface FrameStore {
  readonly epoch: string;
  /** Number of the last frame; 0 for an empty stream. */
  readonly seq: number;
  /** Texts of the last frames up to `seq`: at least the replay window, or all frames if there are fewer. */
  recent(): readonly string[];
  /** Stores the frame numbered `seq + 1`. Throws when the write fails, and stores no part of the frame then. */
  append(text: string): void;
  close(): void;
}

/** Bounded list of the last frames in memory. */
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

/** A stream in memory, lost when the process exits. */
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

/** Parses complete lines; undefined unless they are a header and frames with consecutive numbers. */
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

/** Reads the file, truncates a torn last line, or creates the file for a stream of the given epoch. */
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
  /** Epoch of the stream that starts when the file is missing or unreadable. */
  newEpoch: string;
  /** Called before each write; throws when another server owns the file. */
  fence(): void;
  log: Logger;
}

/**
 * Opens the stream's file: a header line with the epoch, then one line per frame with the bytes that clients receive. A
 * torn last line is truncated.
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
  /** Frames appended while the file is being rewritten, which the new file still lacks. */
  let late: string[] | undefined;

  function syncLater(): void {
    syncTimer ??= setTimeout(() => {
      syncTimer = undefined;
      const synced = fd;
      fdatasync(synced, (error) => {
        // A descriptor that was replaced or closed meanwhile had a sync of its own.
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
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    } finally {
      await file.close();
    }
    if (closed) {
      await rm(temporary, { force: true });
      return;
    }
    // No await from here on, so that no frame is appended between the two files.
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
      // Fencing: another server may own a suspended server's claim by now; its lines must not be overwritten.
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
