import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';

/** Longer than SQLite tries, which is 10 s. */
const TIMEOUT_MS = 20_000;

const program = `
const [libsql, path] = process.argv.slice(1);
const database = new (require(libsql))(path);
database.exec('BEGIN IMMEDIATE; COMMIT');
database.close();
`;

/**
 * Whether the file locks of a database work. SQLite sleeps for up to 10 s where they fail, such as on a network file system
 * without its lock service, so a process other than this one tries. Never rejects.
 */
export function locksWork(path: string): Promise<boolean> {
  const libsql = createRequire(import.meta.url).resolve('libsql');
  return new Promise((resolve) => {
    const options = { env: {}, timeout: TIMEOUT_MS, killSignal: 'SIGKILL' } as const;
    const child = execFile(process.execPath, ['-e', program, libsql, path], options, (error) => resolve(!error));
    child.unref();
  });
}
