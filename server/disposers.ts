import type { Logger } from '#server/logging/log.ts';

/** What has been opened so far, to be closed in reverse order. */
export interface Disposers {
  /** Returns the part. */
  add<Part extends { close(): unknown }>(part: Part): Part;
  /** Closes everything, once; a part that fails does not keep the others open. */
  close(log: Logger): Promise<void>;
}

export function createDisposers(): Disposers {
  const opened: { close(): unknown }[] = [];
  let closing: Promise<void> | undefined;

  async function closeAll(log: Logger): Promise<void> {
    for (const part of opened.toReversed()) {
      try {
        await part.close();
      } catch (error) {
        log.error('a part of the server could not be closed', { err: error });
      }
    }
  }

  return {
    add(part) {
      opened.push(part);
      return part;
    },
    close(log) {
      closing ??= closeAll(log);
      return closing;
    },
  };
}
