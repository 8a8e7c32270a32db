/** Hides descriptors of the server from child processes, which would inherit them. */
import { existsSync, openSync, readFileSync, readdirSync } from 'node:fs';
import type { Program } from './memory-limit.ts';

/** `O_CLOEXEC` in the octal `flags` of `/proc/<pid>/fdinfo`. */
const CLOSE_ON_EXEC = 0o2000000;

const hidden = new Set<number>();
let nothing: number | undefined;

/** Hides the descriptor from all programs that are spawned before the returned function is called. */
export function hideDescriptor(fd: number): () => void {
  hidden.add(fd);
  // A device, so a child that uses it never blocks.
  nothing ??= openSync('/dev/null', 'r+');
  return () => void hidden.delete(fd);
}

/**
 * Hides the descriptors that the server inherited from its parent process. Node sets close-on-exec only for those that
 * follow the standard ones without a gap. They stay open in the server because the parent may hold a lock through them.
 * Called at startup, before the server opens files that children shall inherit. Linux only: macOS closes all
 * descriptors in children.
 */
export function hideInheritedDescriptors(): void {
  if (process.platform !== 'linux') return;
  for (const name of readdirSync('/proc/self/fd')) {
    const fd = Number(name);
    if (fd > 2 && isInheritable(fd)) hideDescriptor(fd);
  }
}

function isInheritable(fd: number): boolean {
  let info: string;
  try {
    info = readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8');
  } catch {
    // The descriptor that listed the directory is closed by now.
    return false;
  }
  const flags = /^flags:\s*([0-7]+)$/m.exec(info)?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
}

/** Replacements that a child gets for hidden descriptors: entries of `stdio` after the first three. */
export function coveredDescriptors(): ('ignore' | number)[] {
  if (hidden.size === 0 || nothing === undefined) return [];
  const covered: ('ignore' | number)[] = [];
  for (const fd of hidden) {
    while (covered.length < fd - 2) covered.push('ignore');
    covered[fd - 3] = nothing;
  }
  return covered;
}

/** Some shells cannot close descriptors of several digits, so each close is tried in a subshell first. */
const closing = (descriptors: string) => `
for fd in ${descriptors}; do
  (eval "exec $fd>&-") 2>/dev/null && eval "exec $fd>&-"
done
exec "$0" "$@"
exit 1`;

/**
 * Command line for libraries that start programs without `coveredDescriptors`: a shell closes the hidden descriptors
 * and is replaced by the program, which keeps the process id. A program that cannot be run exits with 1, or 127 without
 * bash. If no installed shell can close them, the program inherits them.
 */
export function withHiddenClosed(program: Program): Program {
  if (hidden.size === 0 || process.platform !== 'linux') return program;
  const script = closing([...hidden].join(' '));
  // `-p` ignores `BASH_ENV` and functions of the environment; `execfail` continues with the last line if exec fails.
  const [shell, ...options] = existsSync('/bin/bash') ? ['/bin/bash', '-p', '-O', 'execfail'] : ['/bin/sh'];
  return { file: shell, args: [...options, '-c', script, program.file, ...program.args] };
}
