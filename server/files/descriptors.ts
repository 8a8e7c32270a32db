/** Linux: paths that are opened as descriptors, and used through them. */
import { existsSync } from 'node:fs';

/** Linux's flag for a descriptor that only identifies a file; missing in Node's constants. */
export const O_PATH = 0o10000000;
/** Directory of this process's descriptors, shared by its threads. */
export const DESCRIPTORS = '/proc/self/fd';
/** True if paths are opened as descriptors. */
export const byDescriptor = process.platform === 'linux' && existsSync(DESCRIPTORS);
