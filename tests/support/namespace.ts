/**
 * Mounts without rights: a program in a user and mount namespace of its own, where it may mount what nobody else sees.
 * Some systems and containers forbid it.
 */
import { spawnSync, type ChildProcess } from 'node:child_process';
import { tmpdir } from 'node:os';

/** The command that runs `command` behind `mounts`: shell commands that find `directory` as `$1`. */
export const inNamespace = (mounts: string, directory: string, command: string[]): string[] => {
  const script = `set -e; ${mounts}; shift; exec "$@"`;
  return ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c', script, 'sh', directory, ...command];
};

/** A path as that program sees it, for everybody else; while the program runs. */
export const seenBy = (child: ChildProcess, path: string): string => `/proc/${child.pid}/root${path}`;

/** Why nothing can be mounted here; undefined when it can. */
export function mountsForbidden(): string | undefined {
  const [program = '', ...args] = inNamespace('mount -t tmpfs -o size=64k none "$1"', tmpdir(), ['true']);
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (status === 0) return undefined;
  return `no mounts in a user namespace: ${error?.message ?? stderr.trim()}`;
}
