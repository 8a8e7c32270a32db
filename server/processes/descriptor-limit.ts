import { readFile } from 'node:fs/promises';

/** Default if the system does not report the limit. */
const ASSUMED_DESCRIPTORS = 4096;

/** Soft limit of open files and sockets of this process; `Infinity` if there is no limit. */
export async function descriptorLimit(): Promise<number> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1];
  if (soft === undefined) return ASSUMED_DESCRIPTORS;
  return soft === 'unlimited' ? Infinity : Number(soft);
}
