/** The ban on addresses that keep failing authentication; non-loopback binds only, memory only. */

const WINDOW_MS = 60_000;
const BAN_MS = 60_000;
const FAILURES_TO_BAN = 10;
/** Addresses remembered at once; the oldest is forgotten first. */
const MAX_ADDRESSES = 10_000;

export interface Ban {
  banned(address: string): boolean;
  fail(address: string): void;
}

/** `now` is a monotonic clock in milliseconds. */
export function createBan(now: () => number = () => performance.now()): Ban {
  const windows = new Map<string, { openedAt: number; failures: number; bannedUntil: number }>();
  return {
    banned(address) {
      const window = windows.get(address);
      return window !== undefined && now() < window.bannedUntil;
    },
    fail(address) {
      const at = now();
      const window = windows.get(address);
      if (window && at < window.openedAt + WINDOW_MS) {
        window.failures += 1;
        if (window.failures === FAILURES_TO_BAN) window.bannedUntil = at + BAN_MS;
        return;
      }
      windows.delete(address);
      windows.set(address, { openedAt: at, failures: 1, bannedUntil: 0 });
      if (windows.size > MAX_ADDRESSES) {
        for (const oldest of windows.keys()) {
          windows.delete(oldest);
          break;
        }
      }
    },
  };
}
