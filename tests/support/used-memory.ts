import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as z from 'zod';

setFlagsFromString('--expose-gc');
const collectGarbage = z.function({ input: [], output: z.unknown() }).implement(runInNewContext('gc'));

/** Bytes that this process uses after a garbage collection, buffers included. */
export function usedBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
