import type { Logger } from '#server/logging/log.ts';

/** Stack of opened resources, closed in reverse order. */
export interface Disposers {
  /** Registers a resource and returns it. */
  add<Part extends { close(): unknown }>(part: Part): Part;
  /** Closes all resources; idempotent. If one fails, the error is logged and the others are still closed. */
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
