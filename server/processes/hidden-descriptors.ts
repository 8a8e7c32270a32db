/** Descriptors of the server that children would inherit, and that they must not have. */
import { openSync, readFileSync, readdirSync } from 'node:fs';

/** `O_CLOEXEC` in the octal `flags` of `/proc/<pid>/fdinfo`. */
const CLOSE_ON_EXEC = 0o2000000;

const hidden = new Set<number>();
let nothing: number | undefined;

/** Hides the descriptor from programs that are spawned before the returned function is called. */
export function hideDescriptor(fd: number): () => void {
  hidden.add(fd);
  // A device: nothing here waits.
  nothing ??= openSync('/dev/null', 'r+');
  return () => void hidden.delete(fd);
}

/**
 * Hides the descriptors that the server inherited from the program that started it. Node marks only those that follow
 * the standard ones without a gap. They stay open in the server: whoever started it may hold a lock through them.
 * Called at the start, before the server opens files that children shall inherit. Linux only: macOS closes everything
 * in children by itself.
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

/** What a child gets in their places: entries of `stdio` behind the first three. */
export function coveredDescriptors(): ('ignore' | number)[] {
  if (hidden.size === 0 || nothing === undefined) return [];
  const covered: ('ignore' | number)[] = [];
  for (const fd of hidden) {
    while (covered.length < fd - 2) covered.push('ignore');
    covered[fd - 3] = nothing;
  }
  return covered;
}
