/**
 * The output file of a task: `agents/<agent>/tasks/<task>/output.log` in the session's folder. Commands of the agent
 * can write there too, so no link in the path is followed and no existing file is used.
 */
import { constants } from 'node:fs';
import { lstat, mkdir, open, realpath, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from '#server/errors/errno.ts';

const FLAGS = constants.O_NOFOLLOW | constants.O_NONBLOCK;
const CREATE = constants.O_CREAT | constants.O_EXCL | constants.O_RDWR | constants.O_APPEND;

/** Path of a task's output; the server generated both ids. */
export const outputPath = (sessionDir: string, agentId: string, taskId: string): string =>
  join(sessionDir, 'agents', agentId, 'tasks', taskId, 'output.log');

/** Creates the file, readable by its owner only. Rejects when the path exists or leads through a link. */
export async function createOutputFile(sessionDir: string, agentId: string, taskId: string): Promise<FileHandle> {
  const path = outputPath(sessionDir, agentId, taskId);
  let folder = sessionDir;
  for (const name of ['agents', agentId, 'tasks', taskId]) {
    folder = join(folder, name);
    await makeFolder(folder);
  }
  const file = await open(path, CREATE | FLAGS, 0o600);
  try {
    // A folder may have been replaced by a link between the checks.
    const [at, opened] = await Promise.all([lstat(path), file.stat()]);
    if (at.ino !== opened.ino || !(await leadsNowhereElse(sessionDir, path))) throw moved(path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    if (!(await lstat(path)).isDirectory()) throw moved(path);
  }
}

/** At most `maxBytes` bytes from the end of the first `end`; undefined when the file was replaced or cannot be read. */
export async function readOutputFile(
  sessionDir: string,
  path: string,
  maxBytes: number,
  end = Infinity,
): Promise<Buffer | undefined> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, constants.O_RDONLY | FLAGS);
    const stats = await file.stat();
    if (!stats.isFile() || stats.nlink !== 1 || !(await leadsNowhereElse(sessionDir, path))) return undefined;
    return await readTail(file, maxBytes, Math.min(stats.size, end));
  } catch {
    // An unreadable file has no output to display.
    return undefined;
  } finally {
    await file?.close().catch(() => undefined);
  }
}

/** At most `maxBytes` bytes from the end of the first `end`. */
export async function readTail(file: FileHandle, maxBytes: number, end: number): Promise<Buffer> {
  const length = Math.max(0, Math.min(maxBytes, end));
  const buffer = Buffer.allocUnsafe(length);
  const { bytesRead } = await file.read(buffer, 0, length, end - length);
  return buffer.subarray(0, bytesRead);
}

/** Whether no link is between the session's folder and the file. */
async function leadsNowhereElse(sessionDir: string, path: string): Promise<boolean> {
  const [root, folder] = await Promise.all([realpath(sessionDir), realpath(dirname(path))]);
  return folder === join(root, dirname(path).slice(sessionDir.length));
}

const moved = (path: string) => new Error(`${path} is not what it was made as`);
