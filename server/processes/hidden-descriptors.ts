/** Descriptors that a library opened so that children would inherit them, and that they must not have. */
import { openSync } from 'node:fs';

const hidden = new Set<number>();
let nothing: number | undefined;

/** Keeps the descriptor from what is spawned before the returned function is called. */
export function hideDescriptor(fd: number): () => void {
  hidden.add(fd);
  // A device: nothing here waits.
  nothing ??= openSync('/dev/null', 'r+');
  return () => void hidden.delete(fd);
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
