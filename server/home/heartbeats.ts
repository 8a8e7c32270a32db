/** Life signs of servers: one's own, which must not fall silent unnoticed, and those of servers on other machines. */

/** Between two renewals of the own heartbeat. */
export const HEARTBEAT_MS = 10_000;
/** Others may take a server for dead whose heartbeat stood still for this long. */
export const DEAD_MS = 30_000;
/** A silence of one's own from which on others may be near that; the rest is for the look at the lease. */
export const SILENT_MS = 20_000;

export interface Clock {
  /** Milliseconds since the epoch. */
  wall(): number;
  /** Milliseconds that never jump; some systems do not count the time they were suspended. */
  steady(): number;
}

export const systemClock: Clock = { wall: () => Date.now(), steady: () => performance.now() };

export interface OwnHeartbeat {
  /** Renews it, and counts a silence before. Throws what `write` throws, and is then as silent as before. */
  beat(): void;
  /** Silences up to now; one that lasts is ended first. */
  silences(): number;
}

/**
 * `write` renews the heartbeat that others see, with a value that differs from all before; an urgent one must be on the
 * disk when it returns.
 */
export function createOwnHeartbeat(
  write: (value: number, urgent: boolean) => void,
  clock: Clock = systemClock,
): OwnHeartbeat {
  let last = { wall: -Infinity, steady: -Infinity };
  let count = 0;
  // A suspended machine shows in the wall clock only, a clock that was set back in the steady one only.
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
  /**
   * Takes note of a server's heartbeat as it is now, undefined when it has none. Whether the server counts as alive.
   */
  alive(serverId: string, value: number | undefined): boolean;
}

/** Dead is whose value stood still for `DEAD_MS` of this process' own time: clocks of two machines say nothing. */
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
