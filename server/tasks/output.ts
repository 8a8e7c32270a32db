/**
 * The output of a task: in memory while it is short and a call waits, else in its file. A task that starts in the
 * background writes the file itself and needs no reader; the output of one in the foreground is copied there.
 */
import type { FileHandle } from 'node:fs/promises';
import { tailText } from '#server/text/truncate.ts';
import { createOutputFile, outputPath, readOutputFile, readTail } from './output-file.ts';

/** Bytes of output above which a command is stopped, and the most that its file contains. */
export const OUTPUT_MAX_BYTES = 16 * 1024 * 1024;
/** Bytes in memory above which the output is moved to the file. */
export const MEMORY_BYTES = 1024 * 1024;
/** Bytes that are retained of an ended output without a file. */
const KEPT_BYTES = 32 * 1024;
/** Poll interval for the size of a file that the task writes itself, in ms. */
const SIZE_CHECK_MS = 50;

export interface OutputFile {
  path: string;
  bytes: number;
}

export interface TaskOutput {
  /** Path of the file, whether it exists or not. */
  readonly path: string;
  /** Moves the output so far to the file, and writes all later output there. */
  keep(): void;
  write(chunk: Buffer): void;
  /** Opens the file for a program that writes it itself. Calls `tooMuch` a single time when the file is too long. */
  open(tooMuch: () => void): Promise<number>;
  /** At most `maxBytes` bytes from the end, in whole characters; undefined when empty or unreadable. */
  tail(maxBytes: number): Promise<string | undefined>;
  /** Ends writing; resolves to the file, if there is one. */
  end(): Promise<OutputFile | undefined>;
  /** Clears the memory. */
  forget(): void;
}

export interface TaskOutputDeps {
  sessionDir: string;
  agentId: string;
  taskId: string;
  maxBytes?: number;
  report(what: string, error: unknown): void;
}

/** Creates the output; no file is created before it is needed. */
export function createTaskOutput(deps: TaskOutputDeps): TaskOutput {
  const { sessionDir, agentId, taskId, report, maxBytes = OUTPUT_MAX_BYTES } = deps;
  const path = outputPath(sessionDir, agentId, taskId);
  let file: FileHandle | undefined;
  let opening: Promise<unknown> | undefined;
  let ended: OutputFile | undefined;
  let watch: NodeJS.Timeout | undefined;
  /** The newest output, unless it is read from a file. */
  let memory: Buffer[] = [];
  let held = 0;
  /** Chunks to be written to the file. */
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

  /** Writes the pending chunks in order; one drain runs at a time. */
  async function drain(): Promise<void> {
    await opening;
    while (pending.length > 0 && (await writeNext())) {
      // Continues with chunks that arrived meanwhile.
    }
    pending = [];
    writing = undefined;
  }

  /** Returns whether more may be written. */
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
        // `end` closed the file meanwhile.
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
    // One byte more shows whether the first character is complete.
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
