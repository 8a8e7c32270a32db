/**
 * What a task writes: kept in memory while it is short and somebody waits, else in its file. A task that starts in the
 * background has the file as its output and needs no reader; what one in the foreground writes is copied there.
 */
import type { FileHandle } from 'node:fs/promises';
import { tailText } from '#server/bounded-text.ts';
import { createOutputFile, outputPath, readOutputFile, readTail } from './output-file.ts';

/** Bytes of output that end a command, and that its file holds at most. */
export const OUTPUT_MAX_BYTES = 16 * 1024 * 1024;
/** Bytes that memory holds before they go to the file. */
export const MEMORY_BYTES = 1024 * 1024;
/** Bytes that stay of an output without a file. */
const KEPT_BYTES = 32 * 1024;
/** How often the file of a task that writes it itself is looked at, in ms. */
const SIZE_CHECK_MS = 50;

export interface OutputFile {
  path: string;
  bytes: number;
}

export interface TaskOutput {
  /** Where the file is, or would be. */
  readonly path: string;
  /** What is written so far goes to the file, and all that follows. */
  keep(): void;
  write(chunk: Buffer): void;
  /** For a program that writes the file itself: its descriptor. `tooMuch` is called once when the file is too long. */
  open(tooMuch: () => void): Promise<number>;
  /** The last bytes so far, in whole characters; undefined when there are none or they cannot be read. */
  tail(maxBytes: number): Promise<string | undefined>;
  /** Nothing is written any more; the file, where there is one. */
  end(): Promise<OutputFile | undefined>;
  /** Forgets what memory holds. */
  forget(): void;
}

export interface TaskOutputDeps {
  sessionDir: string;
  agentId: string;
  taskId: string;
  maxBytes?: number;
  report(what: string, error: unknown): void;
}

/** Creates it; nothing is made before there is something to keep. */
export function createTaskOutput(deps: TaskOutputDeps): TaskOutput {
  const { sessionDir, agentId, taskId, report, maxBytes = OUTPUT_MAX_BYTES } = deps;
  const path = outputPath(sessionDir, agentId, taskId);
  let file: FileHandle | undefined;
  let opening: Promise<unknown> | undefined;
  let ended: OutputFile | undefined;
  let watch: NodeJS.Timeout | undefined;
  /** The newest of it, for as long as it is not read from a file. */
  let memory: Buffer[] = [];
  let held = 0;
  /** What has to go to the file. */
  let pending: Buffer[] = [];
  let written = 0;
  let total = 0;
  let writing: Promise<void> | undefined;

  function trim(bytes: number): void {
    while (held - (memory[0]?.length ?? Infinity) >= bytes) held -= memory.shift()?.length ?? 0;
  }

  function keep(): void {
    if (opening) return;
    pending = [...memory];
    opening = createOutputFile(sessionDir, agentId, taskId).then(
      (made) => {
        file = made;
      },
      (error: unknown) => report(`the output of ${taskId} cannot be kept in a file`, error),
    );
    writing = drain();
  }

  /** Writes what waits, in its order; one at a time. */
  async function drain(): Promise<void> {
    await opening;
    while (pending.length > 0 && (await writeNext())) {
      // On to what came meanwhile.
    }
    pending = [];
    writing = undefined;
  }

  /** Whether there is room for more. */
  async function writeNext(): Promise<boolean> {
    const batch = Buffer.concat(pending.splice(0)).subarray(0, Math.max(0, maxBytes - written));
    if (!file || batch.length === 0) return false;
    try {
      await file.write(batch);
    } catch (error) {
      report(`the output of ${taskId} could not be written`, error);
      return false;
    }
    written += batch.length;
    return true;
  }

  function write(chunk: Buffer): void {
    if (total > maxBytes) return;
    total += chunk.length;
    memory.push(chunk);
    held += chunk.length;
    if (opening) {
      pending.push(chunk);
      writing ??= drain();
    } else if (held > MEMORY_BYTES) keep();
    trim(MEMORY_BYTES);
  }

  async function open(tooMuch: () => void): Promise<number> {
    const made = createOutputFile(sessionDir, agentId, taskId);
    opening = made.catch(() => undefined);
    const opened = await made;
    file = opened;
    const lookLater = () => (watch = setTimeout(() => void look(), SIZE_CHECK_MS).unref());
    const look = async () => {
      try {
        const { size } = await opened.stat();
        if (size > maxBytes) tooMuch();
        else if (file === opened) lookLater();
      } catch (error) {
        // Its end closed the file meanwhile.
        if (file !== opened) return;
        report(`the size of the output of ${taskId} cannot be watched`, error);
        tooMuch();
      }
    };
    lookLater();
    return opened.fd;
  }

  async function tail(wanted: number): Promise<string | undefined> {
    await writing;
    // One byte more tells whether the first character is whole.
    const bytes = Math.min(wanted, maxBytes) + 1;
    const read = await fileTail(bytes);
    const text = wanted > 0 ? tailText(read ?? (ended ? Buffer.alloc(0) : Buffer.concat(memory)), wanted) : '';
    return text === '' ? undefined : text;
  }

  async function fileTail(bytes: number): Promise<Buffer | undefined> {
    if (file) return readTail(file, bytes, (await file.stat()).size);
    return ended && readOutputFile(sessionDir, ended.path, bytes, ended.bytes);
  }

  return {
    path,
    keep,
    write,
    open,
    tail,
    async end() {
      clearTimeout(watch);
      await opening;
      await writing;
      const opened = file;
      if (!opened) {
        memory = [Buffer.from(Buffer.concat(memory).subarray(-KEPT_BYTES))];
        return undefined;
      }
      try {
        const { size } = await opened.stat();
        if (size > maxBytes) await opened.truncate(maxBytes);
        ended = { path, bytes: Math.min(size, maxBytes) };
      } finally {
        file = undefined;
        memory = [];
        await opened.close();
      }
      return ended;
    },
    forget() {
      memory = [];
    },
  };
}
