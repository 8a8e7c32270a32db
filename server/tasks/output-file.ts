/**
 * The file that a task's output is kept in: `agents/<agent>/tasks/<task>/output.log` of the session's folder. Commands of
 * the agent can write there too, so no link on the way is followed and nothing that is there already is taken.
 */
import { constants } from 'node:fs';
import { lstat, mkdir, open, realpath, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from '#server/files/errno.ts';

const FLAGS = constants.O_NOFOLLOW | constants.O_NONBLOCK;
const CREATE = constants.O_CREAT | constants.O_EXCL | constants.O_RDWR | constants.O_APPEND;

/** Where the output of a task is; both ids are the server's own. */
export const outputPath = (sessionDir: string, agentId: string, taskId: string): string =>
  join(sessionDir, 'agents', agentId, 'tasks', taskId, 'output.log');

/** Creates the file, readable for its owner only. Rejects when anything stands in its way. */
export async function createOutputFile(sessionDir: string, agentId: string, taskId: string): Promise<FileHandle> {
  const path = outputPath(sessionDir, agentId, taskId);
  let folder = sessionDir;
  for (const name of ['agents', agentId, 'tasks', taskId]) {
    folder = join(folder, name);
    await makeFolder(folder);
  }
  const file = await open(path, CREATE | FLAGS, 0o600);
  try {
    // A folder may have become a link between the looks at it.
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

/** The last bytes of the file, at most so many of the first `end`; undefined when it cannot be read as what it was made. */
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
    // Whatever keeps it from being read, there is nothing to show.
    return undefined;
  } finally {
    await file?.close().catch(() => undefined);
  }
}

/** The last bytes of the first `end`, at most so many. */
export async function readTail(file: FileHandle, maxBytes: number, end: number): Promise<Buffer> {
  const length = Math.max(0, Math.min(maxBytes, end));
  const buffer = Buffer.allocUnsafe(length);
  const { bytesRead } = await file.read(buffer, 0, length, end - length);
  return buffer.subarray(0, bytesRead);
}

/** No link between the session's folder and the file. */
async function leadsNowhereElse(sessionDir: string, path: string): Promise<boolean> {
  const [root, folder] = await Promise.all([realpath(sessionDir), realpath(dirname(path))]);
  return folder === join(root, dirname(path).slice(sessionDir.length));
}

const moved = (path: string) => new Error(`${path} is not what it was made as`);
