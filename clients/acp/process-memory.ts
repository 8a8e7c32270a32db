/** Memory of a process that only runs a bridge. */
import v8 from 'node:v8';

/**
 * Keeps the young generation of the heap at its first size, 3 MB instead of up to 48 MB: a bridge mostly forwards, and an
 * editor starts one for each window. Not for a process that runs a server too, which would collect garbage more often.
 */
export function limitYoungGeneration(): void {
  v8.setFlagsFromString('--semi-space-growth-factor=1');
}
