/** Frames of one terminal, with a replay buffer of the newest. */
import type { TerminalFrame } from '#schema/frames/server-frames.ts';
import { iso } from '#schema/scalars.ts';

export const KEPT_FRAMES = 2000;
export const KEPT_BYTES = 4 * 1024 * 1024;

export interface TerminalIds {
  session_id: string;
  terminal_id: string;
}

export interface KeptFrame {
  /** Infinite for the exit, which is the last frame and always replayed. */
  readonly seq: number;
  /** Size that is counted, in bytes of the frame's text. */
  readonly size: number;
  /** Returns the frame as it is sent; encoded lazily and a single time. */
  encoded(): Buffer;
}

/** Encodes a frame that is not buffered. */
export const resizedFrame = (ids: TerminalIds, cols: number, rows: number): Buffer =>
  encode({ type: 'terminal_resized', ...ids, timestamp: iso(Date.now()), payload: { cols, rows } });

function encode(frame: TerminalFrame): Buffer {
  return Buffer.from(JSON.stringify(frame));
}

function keptFrame(seq: number, size: number, frame: TerminalFrame): KeptFrame {
  let bytes: Buffer | undefined;
  return { seq, size, encoded: () => (bytes ??= encode(frame)) };
}

export interface OutputFrames {
  /** Numbers a chunk of output and buffers it. */
  output(data: string): KeptFrame;
  exit(exitCode: number | null): KeptFrame;
  /** Returns the buffered frames after that number. */
  after(seq: number): KeptFrame[];
}

/** Creates an empty buffer. */
export function createOutputFrames(ids: TerminalIds): OutputFrames {
  const kept: KeptFrame[] = [];
  let bytes = 0;
  let lastSeq = 0;

  function keep(frame: KeptFrame): KeptFrame {
    kept.push(frame);
    bytes += frame.size;
    while (kept.length > KEPT_FRAMES || bytes > KEPT_BYTES) bytes -= kept.shift()?.size ?? 0;
    return frame;
  }
  const timestamp = () => iso(Date.now());

  return {
    output(data) {
      lastSeq += 1;
      return keep(
        keptFrame(lastSeq, Buffer.byteLength(data), {
          type: 'terminal_output',
          seq: lastSeq,
          ...ids,
          timestamp: timestamp(),
          payload: { data },
        }),
      );
    },
    exit: (exit_code) =>
      keep(keptFrame(Infinity, 0, { type: 'terminal_exit', ...ids, timestamp: timestamp(), payload: { exit_code } })),
    after: (seq) => kept.filter((frame) => frame.seq > seq),
  };
}
