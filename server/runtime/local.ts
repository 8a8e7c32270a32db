/** The runtime of the machine on which the server runs. */
import { appendFile, lstat, mkdir, open, readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute } from 'node:path';
import { READ_FLAGS } from '#server/files/open-regular.ts';
import { readRegular } from '#server/files/read-regular.ts';
import { replaceFile } from '#server/files/write-file.ts';
import { childEnvironment } from '#server/processes/child-environment.ts';
import { findOnPath, isExecutable } from '#server/processes/executables.ts';
import { spawnGroup } from '#server/processes/spawn.ts';
import { realPath } from './real-path.ts';
import type { OpenFile, Runtime } from './runtime.ts';

/** Id of the runtime that every workspace has. */
export const LOCAL_RUNTIME = 'local';

export interface LocalRuntimeOptions {
  /** The server's environment; read at each use. */
  env?: () => NodeJS.ProcessEnv;
}

async function openFile(path: string): Promise<OpenFile> {
  const file = await open(path, READ_FLAGS);
  try {
    const stats = await file.stat();
    let position = 0;
    return {
      stats,
      async read(maxBytes) {
        const buffer = Buffer.allocUnsafe(maxBytes);
        const { bytesRead } = await file.read(buffer, 0, maxBytes, position);
        position += bytesRead;
        return buffer.subarray(0, bytesRead);
      },
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function appendTo(path: string, data: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await appendFile(path, data);
}

/** Creates a runtime with this machine's files, processes and environment. */
export function createLocalRuntime({ env = () => process.env }: LocalRuntimeOptions = {}): Runtime {
  return {
    homeDirectory: homedir,
    environment: () => childEnvironment(env()),
    effectiveUser: () => process.geteuid?.(),
    readFile: readRegular,
    openFile,
    async writeFile(path, data, { append = false } = {}) {
      await (append ? appendTo(path, data) : replaceFile(path, data));
      return stat(path);
    },
    stat: (path) => stat(path),
    lstat: (path) => lstat(path),
    realpath: (path) => realPath(path),
    list: (path) => readdir(path, { withFileTypes: true }),
    async which(program, path = env().PATH) {
      if (!isAbsolute(program)) return findOnPath(program, path);
      return (await isExecutable(program)) ? program : undefined;
    },
    spawn: spawnGroup,
  };
}
