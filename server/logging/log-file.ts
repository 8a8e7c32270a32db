/** Log files with a size limit: `service-code.log`, and older ones as `service-code.log.1`, `.2` … */
import { appendFile, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '#server/files/errno.ts';

const NAME = 'service-code.log';
const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
/** Of all files together; what comes while so much waits for the disk is dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** No rotation takes as long. */
const LOCK_LASTS_MS = 60_000;

/** Where lines go and how much of them is kept. */
export interface LogTarget {
  /** Made when the first line comes; its parent must exist, so that a removed session does not come back. */
  directory: string;
  /** A file that would grow beyond this is rotated away first. */
  maxBytes: number;
  /** How many files are kept, the current one included; at least 1. */
  files: number;
}

export interface LogFiles {
  /** Queues a whole line; never throws, never waits. */
  write(target: LogTarget, line: string): void;
  /** Resolves when everything queued is in its file or has failed. Later lines are dropped. */
  close(): Promise<void>;
}

export interface LogFilesOptions {
  /** Lines could not be written. Called once, then again only after a write has worked. */
  onError(error: unknown): void;
  /** So many lines were dropped because the disk was too slow; called once there is room again. */
  onDropped(lines: number): void;
  maxWaitingBytes?: number;
}

interface Waiting {
  target: LogTarget;
  lines: string[];
  bytes: number;
}

/**
 * Writes the log files of a home and of its sessions. No file stays open between two writes and its size is asked for
 * each time: several servers share one home, sessions are many, and a user may move a log away at any time.
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
      // What comes meanwhile waits behind the others.
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
 * Moves the files up by one, unless another server of the home is at it: two that move them at once would move one onto
 * the other. A file then grows beyond its limit until the next line.
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

/** An old one was left by a crash: the next rotation has its turn again. */
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
      // A gap, or a user has taken it away.
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
}
