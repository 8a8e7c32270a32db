/** Limits on what one plugin may have, counted while it is unpacked or copied. */

export const MAX_BYTES = 512 * 1024 * 1024;
export const MAX_ENTRIES = 20_000;

export interface SizeLimits {
  maxBytes: number;
  maxEntries: number;
}

/** Thrown when a limit is exceeded. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

export interface Budget {
  /** Counts an entry. Throws `TooLarge`. */
  entry(): void;
  /** Counts bytes. Throws `TooLarge`. */
  bytes(count: number): void;
}

export function createBudget({ maxBytes, maxEntries }: SizeLimits): Budget {
  let bytes = 0;
  let entries = 0;
  return {
    entry() {
      entries += 1;
      if (entries > maxEntries) throw new TooLarge(`it has more than ${maxEntries} entries`);
    },
    bytes(count) {
      bytes += count;
      if (bytes > maxBytes) throw new TooLarge(`it has more than ${maxBytes} bytes`);
    },
  };
}
