/** Inbox of one connection: request frames in independent FIFO lanes; the socket is paused while too many are queued. */
import type { FrameLane } from './frame-handler.ts';
import type { Peer } from './peer.ts';

export const INBOX_FRAMES = 256;
export const INBOX_BYTES = 1024 * 1024;

export interface Inbox {
  /** Queues a frame of `bytes` bytes in its lane; `handle` runs after the frames before it and must not reject. */
  push(lane: FrameLane, bytes: number, handle: () => Promise<void>): void;
  /** Drops the queued frames; running handlers continue. */
  close(): void;
}

interface Lane {
  frames: { bytes: number; handle(): Promise<void> }[];
  running: boolean;
}

/** Creates the inbox of a peer. */
export function createInbox(peer: Peer): Inbox {
  const lanes: Record<FrameLane, Lane> = {
    terminal: { frames: [], running: false },
    control: { frames: [], running: false },
    ordinary: { frames: [], running: false },
  };
  let frames = 0;
  let bytes = 0;
  let paused = false;
  let closed = false;

  const fillingUp = (share: number) => frames > INBOX_FRAMES * share || bytes > INBOX_BYTES * share;

  async function run(lane: Lane): Promise<void> {
    lane.running = true;
    for (let next = lane.frames.shift(); next; next = lane.frames.shift()) {
      frames -= 1;
      bytes -= next.bytes;
      if (paused && !fillingUp(0.5)) {
        paused = false;
        peer.resume();
      }
      await next.handle();
    }
    lane.running = false;
  }

  return {
    push(name, size, handle) {
      if (closed) return;
      const lane = lanes[name];
      lane.frames.push({ bytes: size, handle });
      frames += 1;
      bytes += size;
      if (!paused && fillingUp(1)) {
        paused = true;
        peer.pause();
      }
      if (!lane.running) void run(lane);
    },
    close() {
      closed = true;
      for (const lane of Object.values(lanes)) lane.frames = [];
      frames = 0;
      bytes = 0;
    },
  };
}
