/** Size-limited, rotated log files: `service-code.log`, and older ones as `service-code.log.1`, `.2` … */
import { appendFile, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '#server/errors/errno.ts';

const NAME = 'service-code.log';
const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
/** Limit of the write buffer for all files together; lines beyond it are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** Age at which a rotation lock is stale; no rotation takes that long. */
const LOCK_LASTS_MS = 60_000;

/** Location and retention of one log. */
export interface LogTarget {
  /** Created on the first write; its parent must exist, so that a removed session's folder is not created again. */
  directory: string;
  /** The file is rotated before a line would make it larger than this. */
  maxBytes: number;
  /** Number of files to retain, including the current one; at least 1. */
  files: number;
}

export interface LogFiles {
  /** Queues a complete line; never throws or blocks. */
  write(target: LogTarget, line: string): void;
  /** Resolves when every queued line has been written or has failed. Later lines are dropped. */
  close(): Promise<void>;
}

export interface LogFilesOptions {
  /** Called when lines could not be written; called again only after a write has succeeded. */
  onError(error: unknown): void;
  /** Called with the number of dropped lines (the disk was too slow) when the buffer has capacity again. */
  onDropped(lines: number): void;
  maxWaitingBytes?: number;
}

interface Waiting {
  target: LogTarget;
  lines: string[];
  bytes: number;
}

/**
 * Write buffer of a home's log files and its sessions'. Each write opens the file and checks its size again: several
 * servers share one home, there are many sessions, and a user may move a log away at any time.
 */
export function createLogFiles(options: LogFilesOptions): LogFiles {
  const { onError, onDropped, maxWaitingBytes = MAX_WAITING_BYTES } = options;
  const waiting = new Map<string, Waiting>();
  let waitingBytes = 0;
  let dropped = 0;
  let failing = false;
  let closed = false;
  let draining: Promise<void> | undefined;

  async function drain(): Promise<void> {
    for (const [directory, { target, lines, bytes }] of waiting) {
      // Lines that arrive during the write are queued as a new entry.
      waiting.delete(directory);
      try {
        await append(target, lines);
        failing = false;
      } catch (error) {
        if (!failing) onError(error);
        failing = true;
      }
      waitingBytes -= bytes;
      if (dropped === 0) continue;
      const count = dropped;
      dropped = 0;
      onDropped(count);
    }
    draining = undefined;
  }

  return {
    write(target, line) {
      const bytes = Buffer.byteLength(line);
      if (closed || waitingBytes + bytes > maxWaitingBytes) {
        dropped += 1;
        return;
      }
      waitingBytes += bytes;
      const known = waiting.get(target.directory);
      if (known) {
        known.lines.push(line);
        known.bytes += bytes;
      } else waiting.set(target.directory, { target, lines: [line], bytes });
      draining ??= Promise.resolve().then(drain);
    },
    async close() {
      await draining;
      closed = true;
    },
  };
}

async function append({ directory, maxBytes, files }: LogTarget, lines: string[]): Promise<void> {
  const path = join(directory, NAME);
  let size = await sizeOf(path);
  if (size === undefined) await makeDirectory(directory);
  size ??= 0;
  let text = '';
  for (const line of lines) {
    const bytes = Buffer.byteLength(line);
    if (size > 0 && size + bytes > maxBytes) {
      if (text !== '') await appendFile(path, text, { mode: FILE_MODE });
      await rotate(path, files);
      text = '';
      size = (await sizeOf(path)) ?? 0;
    }
    text += line;
    size += bytes;
  }
  await appendFile(path, text, { mode: FILE_MODE });
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: DIRECTORY_MODE });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/**
 * Renames each file to the next number, unless another server of the home is rotating: two concurrent rotations would
 * overwrite files. In that case the file exceeds its limit until the next line tries again.
 */
async function rotate(path: string, files: number): Promise<void> {
  const lock = `${path}.lock`;
  if (!(await takeLock(lock))) return;
  try {
    await shift(path, files);
  } finally {
    await rm(lock, { force: true });
  }
}

/** Creates the lock file; false if it exists. Removes a crashed process's lock, so that the next call succeeds. */
async function takeLock(lock: string): Promise<boolean> {
  try {
    await writeFile(lock, '', { flag: 'wx', mode: FILE_MODE });
    return true;
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
  const made = await stat(lock).catch(() => undefined);
  if (made && Date.now() - made.mtimeMs > LOCK_LASTS_MS) await rm(lock, { force: true });
  return false;
}

async function shift(path: string, files: number): Promise<void> {
  const older = (n: number) => (n === 0 ? path : `${path}.${n}`);
  if (files === 1) await rm(path, { force: true });
  for (let n = files - 1; n > 0; n -= 1) {
    try {
      await rename(older(n - 1), older(n));
    } catch (error) {
      // The number is missing in the sequence, or a user has removed the file.
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
}
