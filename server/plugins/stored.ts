/** Marks failures of files that the server writes, in contrast to those of a source. */

/** A file of the home cannot be written: the disk is full, the home read-only, too many files are open. */
export class NotStored extends Error {
  override readonly name = 'NotStored';
}

/** Converts a failure of the write to `NotStored`. */
export function stored<T>(write: Promise<T>): Promise<T> {
  return write.catch((error: unknown) => {
    throw new NotStored(error instanceof Error ? error.message : String(error), { cause: error });
  });
}
