/** Acquires file locks of the session index in another process, as if the system granted none. Linux only. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';

interface LockedBytes {
  path: string;
  start: number;
  /** 0 locks the whole file. */
  length: number;
}

/** The lock that every use of the index checks. */
export const checkedBytes = (home: string): LockedBytes => ({
  path: join(home, 'cache/index-locks'),
  start: 0,
  length: 0,
});

/** The locks of a database's readers, which SQLite retries for 10 s. */
export const readersBytes = (database: string): LockedBytes => ({ path: `${database}-shm`, start: 123, length: 5 });

/** Locks the files, creating them, until the returned function is called or the test completes. */
export async function takeLocks(...taken: LockedBytes[]): Promise<() => void> {
  for (const { path } of taken) await mkdir(dirname(path), { recursive: true });
  const script = `
    my @files;
    while (my ($path, $start, $length) = splice(@ARGV, 0, 3)) {
      open(my $file, '+>>', $path) or die $!;
      my $lock = pack('s s x4 q q i x4', 1, 0, $start, $length, 0);
      fcntl($file, 6, $lock) or die $!;
      push @files, $file;
    }
    $| = 1; print "locked"; <STDIN>;
  `;
  const args = taken.flatMap(({ path, start, length }) => [path, String(start), String(length)]);
  const child = spawn('perl', ['-e', script, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill());
  const [said] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  expect(String(said)).toBe('locked');
  return () => child.stdin.end();
}
