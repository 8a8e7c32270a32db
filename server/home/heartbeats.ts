/** Heartbeats: detects that this server's was interrupted, and that another machine's server is dead. */

/** Interval between two renewals of this server's heartbeat. */
export const HEARTBEAT_MS = 10_000;
/** Other servers may treat a server as dead after its heartbeat was unchanged for this long. */
export const DEAD_MS = 30_000;
/** Silence of this server's heartbeat after which it checks its leases; leaves time for that before `DEAD_MS`. */
export const SILENT_MS = 20_000;

export interface Clock {
  /** Milliseconds since the epoch. */
  wall(): number;
  /** Monotonic milliseconds; some systems do not count time in suspension. */
  steady(): number;
}

export const systemClock: Clock = { wall: () => Date.now(), steady: () => performance.now() };

export interface OwnHeartbeat {
  /** Renews the heartbeat and counts a preceding silence. Throws `write`'s error; the silence then continues. */
  beat(): void;
  /** Number of silences so far; an ongoing one is ended first. */
  silences(): number;
}

/**
 * `write` publishes a heartbeat value that differs from all previous ones; an `urgent` one must be on disk when it
 * returns.
 */
export function createOwnHeartbeat(
  write: (value: number, urgent: boolean) => void,
  clock: Clock = systemClock,
): OwnHeartbeat {
  let last = { wall: -Infinity, steady: -Infinity };
  let count = 0;
  // Suspension is only visible in the wall clock, a clock that was set back only in the monotonic one.
  const silentMs = () => Math.max(clock.wall() - last.wall, clock.steady() - last.steady);

  function beat(urgent: boolean): void {
    const silent = silentMs() > SILENT_MS;
    const now = { wall: Math.max(clock.wall(), last.wall + 1), steady: clock.steady() };
    write(now.wall, urgent);
    last = now;
    if (silent) count += 1;
  }

  return {
    beat: () => beat(false),
    silences() {
      if (silentMs() > SILENT_MS) beat(true);
      return count;
    },
  };
}

export interface HeartbeatWatch {
  /** Records a server's current heartbeat (undefined: it has none). Returns whether the server is treated as alive. */
  alive(serverId: string, value: number | undefined): boolean;
}

/** A server is dead if its value is unchanged for `DEAD_MS` by this process's clock; clocks of machines may differ. */
export function createHeartbeatWatch(clock: Clock = systemClock): HeartbeatWatch {
  const seen = new Map<string, { value: number | undefined; since: number }>();
  return {
    alive(serverId, value) {
      const now = clock.steady();
      const known = seen.get(serverId);
      if (known && known.value === value) return now - known.since < DEAD_MS;
      seen.set(serverId, { value, since: now });
      return true;
    },
  };
}
