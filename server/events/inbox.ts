/** Frames of one connection, handled strictly one after the other; the socket pauses while too many wait (ws-events.md §1.3). */
import type { Peer } from './peer.ts';

export const INBOX_FRAMES = 256;
export const INBOX_BYTES = 1024 * 1024;

export interface Inbox {
  push(data: Uint8Array | string): void;
  /** Drops what waits; the frame in hand goes on. */
  close(): void;
}

/** `handle` must not reject; the next frame starts when it has resolved. */
export function createInbox(peer: Peer, handle: (text: string) => Promise<void>): Inbox {
  let frames: (Uint8Array | string)[] = [];
  let bytes = 0;
  let paused = false;
  let running = false;
  let closed = false;

  function fillingUp(share: number): boolean {
    return frames.length > INBOX_FRAMES * share || bytes > INBOX_BYTES * share;
  }

  async function run(): Promise<void> {
    running = true;
    for (let data = frames.shift(); data !== undefined; data = frames.shift()) {
      bytes -= data.length;
      if (paused && !fillingUp(0.5)) {
        paused = false;
        peer.resume();
      }
      await handle(typeof data === 'string' ? data : Buffer.from(data.buffer, data.byteOffset, data.length).toString());
    }
    running = false;
  }

  return {
    push(data) {
      if (closed) return;
      frames.push(data);
      bytes += data.length;
      if (!paused && fillingUp(1)) {
        paused = true;
        peer.pause();
      }
      if (!running) void run();
    },
    close() {
      closed = true;
      frames = [];
      bytes = 0;
    },
  };
}
