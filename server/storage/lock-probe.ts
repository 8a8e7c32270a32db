import { spawn } from 'node:child_process';
import { coveredDescriptors } from '#server/processes/hidden-descriptors.ts';

/** Longer than the 10 s for which SQLite retries. */
const TIMEOUT_MS = 20_000;

// The first statement handles SIGUSR1, for which Node otherwise opens its debugger to all users of the machine.
const program = `
process.on('SIGUSR1', () => undefined);
const [libsql, path] = process.argv.slice(1);
const database = new (require(libsql))(path);
database.exec('BEGIN IMMEDIATE; COMMIT');
database.close();
`;

/**
 * Checks whether the file locks of a database work. Runs in a child process, because SQLite sleeps for up to 10 s where
 * they fail, for example on a network file system without its lock service. `libsql` is the library's file. Never
 * rejects.
 */
export function locksWork(path: string, libsql: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['-e', program, libsql, path], {
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', ...coveredDescriptors()],
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
    });
    child.on('error', () => resolve(false));
    child.on('exit', (code) => resolve(code === 0));
    child.unref();
  });
}
