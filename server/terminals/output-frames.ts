/** Frames of one terminal, and the newest of them for who comes later. */
import { iso } from '#schema/scalars.ts';

export const KEPT_FRAMES = 2000;
export const KEPT_BYTES = 4 * 1024 * 1024;

export interface TerminalIds {
  session_id: string;
  terminal_id: string;
}

export interface KeptFrame {
  /** Infinite for the exit, which is the last and replayed whatever was seen. */
  readonly seq: number;
  /** Of its text, as it counts here. */
  readonly size: number;
  /** The frame as it is sent; encoded once, whoever receives it, and not before somebody does. */
  encoded(): Buffer;
}

/** Encodes a frame that is not kept. */
export const resizedFrame = (ids: TerminalIds, cols: number, rows: number): Buffer =>
  encode({ type: 'terminal_resized', ...ids, timestamp: iso(Date.now()), payload: { cols, rows } });

function encode(frame: object): Buffer {
  return Buffer.from(JSON.stringify(frame));
}

function keptFrame(seq: number, size: number, frame: object): KeptFrame {
  let bytes: Buffer | undefined;
  return { seq, size, encoded: () => (bytes ??= encode(frame)) };
}

export interface OutputFrames {
  /** Numbers a piece of output and keeps it. */
  output(data: string): KeptFrame;
  exit(exitCode: number | null): KeptFrame;
  /** What is left of the frames after that number. */
  after(seq: number): KeptFrame[];
}

/** Creates the frames of a terminal, none yet. */
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
