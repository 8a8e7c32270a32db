/** Inbox of one connection: request frames in independent FIFO rows; the socket is paused while too many are queued. */
import type { FrameLane } from './frame-handler.ts';
import type { Peer } from './peer.ts';

export const INBOX_FRAMES = 256;
export const INBOX_BYTES = 1024 * 1024;

export interface Inbox {
  /** Queues a frame of `bytes` bytes in its row; `handle` runs after the frames before it and must not reject. */
  push(row: FrameLane, bytes: number, handle: () => Promise<void>): void;
  /** Drops the queued frames; running handlers continue. */
  close(): void;
}

interface Row {
  frames: { bytes: number; handle(): Promise<void> }[];
  running: boolean;
}

/** Creates the inbox of a peer. */
export function createInbox(peer: Peer): Inbox {
  const rows: Record<FrameLane, Row> = {
    terminal: { frames: [], running: false },
    control: { frames: [], running: false },
    ordinary: { frames: [], running: false },
  };
  let frames = 0;
  let bytes = 0;
  let paused = false;
  let closed = false;

  const fillingUp = (share: number) => frames > INBOX_FRAMES * share || bytes > INBOX_BYTES * share;

  async function run(row: Row): Promise<void> {
    row.running = true;
    for (let next = row.frames.shift(); next; next = row.frames.shift()) {
      frames -= 1;
      bytes -= next.bytes;
      if (paused && !fillingUp(0.5)) {
        paused = false;
        peer.resume();
      }
      await next.handle();
    }
    row.running = false;
  }

  return {
    push(name, size, handle) {
      if (closed) return;
      const row = rows[name];
      row.frames.push({ bytes: size, handle });
      frames += 1;
      bytes += size;
      if (!paused && fillingUp(1)) {
        paused = true;
        peer.pause();
      }
      if (!row.running) void run(row);
    },
    close() {
      closed = true;
      for (const row of Object.values(rows)) row.frames = [];
      frames = 0;
      bytes = 0;
    },
  };
}
