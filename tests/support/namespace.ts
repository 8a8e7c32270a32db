/**
 * Unprivileged mounts: runs a program in its own user and mount namespace, where its mounts are invisible to other
 * processes. Some systems and containers forbid it.
 */
import { spawnSync, type ChildProcess } from 'node:child_process';
import { tmpdir } from 'node:os';

/** The command that runs `command` after `mounts`: shell commands that receive `directory` as `$1`. */
export const inNamespace = (mounts: string, directory: string, command: string[]): string[] => {
  const script = `set -e; ${mounts}; shift; exec "$@"`;
  return ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c', script, 'sh', directory, ...command];
};

/** The path by which other processes reach `path` of that program's namespace; valid while the program runs. */
export const seenBy = (child: ChildProcess, path: string): string => `/proc/${child.pid}/root${path}`;

/** Why mounts are not possible on this machine; undefined if they are. */
export function mountsForbidden(): string | undefined {
  const [program = '', ...args] = inNamespace('mount -t tmpfs -o size=64k none "$1"', tmpdir(), ['true']);
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (status === 0) return undefined;
  return `no mounts in a user namespace: ${error?.message ?? stderr.trim()}`;
}
