/**
 * Temporary ban of addresses that repeatedly fail authentication, only in memory. Connections to a loopback bind are not
 * subject to it.
 */
import { isIP } from 'node:net';
import { plainAddress } from '#server/text/plain-address.ts';

const WINDOW_MS = 60_000;
const BAN_MS = 60_000;
const FAILURES_TO_BAN = 10;
/** Maximum number of tracked addresses; the oldest is evicted first. */
const MAX_ADDRESSES = 10_000;

export interface Ban {
  banned(address: string): boolean;
  fail(address: string): void;
}

/** Number of 16-bit groups in an IPv6 network prefix (/64); each host may use all addresses of its network. */
const NETWORK_GROUPS = 4;

/** Key of a client: its IPv4 address, also if mapped into IPv6, or the /64 network of its IPv6 address. */
function clientKey(peer: string): string {
  const address = plainAddress(peer);
  if (isIP(address) !== 6) return address;
  const groups = (text: string) => text.split(':').filter((group) => group !== '');
  // Without the zone, which may contain anything.
  const [plain = ''] = address.toLowerCase().split('%');
  const [start = '', end] = plain.split('::');
  const before = groups(start);
  // Groups after the `::`, which replaces the missing zeros.
  const after = groups(end ?? '');
  // An IPv4 suffix occupies two groups, but systems write one only after five groups of zeros.
  const zeros = 8 - before.length - after.length;
  return [...before, ...Array<string>(zeros).fill('0'), ...after].slice(0, NETWORK_GROUPS).join(':');
}

/** `now`: monotonic clock in milliseconds. */
export function createBan(now: () => number = () => performance.now()): Ban {
  const windows = new Map<string, { openedAt: number; failures: number; bannedUntil: number }>();
  return {
    banned(address) {
      const window = windows.get(clientKey(address));
      return window !== undefined && now() < window.bannedUntil;
    },
    fail(address) {
      const at = now();
      const key = clientKey(address);
      const window = windows.get(key);
      if (window && at < window.openedAt + WINDOW_MS) {
        window.failures += 1;
        if (window.failures === FAILURES_TO_BAN) window.bannedUntil = at + BAN_MS;
        return;
      }
      windows.delete(key);
      windows.set(key, { openedAt: at, failures: 1, bannedUntil: 0 });
      if (windows.size > MAX_ADDRESSES) {
        for (const oldest of windows.keys()) {
          windows.delete(oldest);
          break;
        }
      }
    },
  };
}
