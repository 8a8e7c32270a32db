/** Heartbeat of a tunnel: pings, and detects a silent peer and a suspended machine. */
import { randomBytes } from 'node:crypto';
import type { Clock } from '#server/clock.ts';

/** The peer is lost after this time without a frame. */
const SILENT_MS = 60_000;
/** A longer time between two ticks: the machine was suspended, and the peer has given up this end. */
const SUSPENDED_MS = 90_000;

export interface HeartbeatOptions {
  clock: Clock;
  intervalMs: number;
  /** Sends a ping with these 8 bytes. */
  ping(token: Buffer): void;
  /** `slept`: the machine was suspended. No tick follows. */
  onLost(reason: string, slept: boolean): void;
  /** `ping` has thrown. No tick follows. */
  onError(error: unknown): void;
}

export interface Heartbeat {
  /** A frame has arrived. */
  alive(): void;
  stop(): void;
}

export function startHeartbeat({ clock, intervalMs, ping, onLost, onError }: HeartbeatOptions): Heartbeat {
  let lastTick = clock.now();
  let lastFrame = lastTick;
  let cancel = clock.setTimeout(tick, intervalMs);

  function tick(): void {
    const now = clock.now();
    const gap = now - lastTick;
    // The clock was set back.
    if (gap < 0) lastFrame = now;
    lastTick = now;
    if (gap > SUSPENDED_MS) return onLost('the machine was suspended', true);
    if (now - lastFrame >= SILENT_MS) return onLost('no frame for a minute', false);
    try {
      ping(randomBytes(8));
    } catch (error) {
      return onError(error);
    }
    cancel = clock.setTimeout(tick, intervalMs);
  }

  return {
    alive: () => void (lastFrame = clock.now()),
    stop: () => cancel(),
  };
}
