/**
 * A program on a pseudo terminal of this machine. The library forks it and reads from it; this module writes, and
 * tracks when the descriptor must not be used any more.
 */
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { IPty } from 'node-pty';
import { errorCode } from '#server/errors/errno.ts';
import { hideDescriptor, withHiddenClosed } from '#server/processes/hidden-descriptors.ts';

export interface PtyRequest {
  /** A path, or a name to be found on PATH. */
  file: string;
  cwd: string;
  /** The complete environment of the program. */
  env: NodeJS.ProcessEnv;
  cols: number;
  rows: number;
}

export interface PtyExit {
  exitCode: number;
  /** Number of the signal that terminated the program; 0 without one. */
  signal: number;
}

export interface Pty {
  readonly pid: number;
  /** Writes without blocking; returns the number of accepted bytes, 0 after the exit. */
  write(bytes: Uint8Array): number;
  resize(cols: number, rows: number): void;
  /** Registers a listener of output chunks, which contain whole characters. */
  onOutput(listener: (text: string) => void): void;
  /** Registers a listener that is called a single time, after all output. */
  onExit(listener: (exit: PtyExit) => void): void;
  /** Ends the program on systems without process groups. */
  kill(): void;
}

/** Starts a program. One that cannot be executed exits with 1. */
export type OpenPty = (request: PtyRequest) => Pty;

/** The library's members that its types do not declare; only with Unix descriptors. */
interface Descriptors {
  fd: number;
  /** Device path of the program's side. */
  ptsName: string;
  /** Socket of our side. */
  socket: Socket;
}

function descriptorsOf(pty: IPty): Descriptors | undefined {
  if (!('fd' in pty && 'ptsName' in pty && '_socket' in pty)) return undefined;
  const { fd, ptsName, _socket: socket } = pty;
  if (typeof fd !== 'number' || typeof ptsName !== 'string' || !(socket instanceof Socket)) return undefined;
  return { fd, ptsName, socket };
}

/**
 * Keeps the program's side open until it has exited: otherwise Linux loses the last output if the hang-up is seen
 * before the read. Returns a function that closes it.
 */
function holdOpen({ ptsName }: Descriptors): () => void {
  if (process.platform !== 'linux') return () => undefined;
  let fd: number;
  try {
    // The device is in memory, so the call does not block.
    fd = openSync(ptsName, constants.O_RDWR | constants.O_NOCTTY);
  } catch {
    // The program has exited already.
    return () => undefined;
  }
  return () => closeSync(fd);
}

/** More than a terminal of Linux or macOS holds; a program in the background could write without an end. */
const MOST_HELD_BYTES = 256 * 1024;

/**
 * Reads what the terminal still holds before its socket is destroyed. The library does that 200 ms after the exit, which
 * may be before the next read of a busy thread.
 */
export function drainBeforeDestroy({ fd, socket }: Pick<Descriptors, 'fd' | 'socket'>): void {
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error) => {
    let left = socket.destroyed ? 0 : MOST_HELD_BYTES;
    while (left > 0) {
      const chunk = readHeld(fd);
      if (!chunk) break;
      left -= chunk.length;
      socket.push(chunk);
    }
    return destroy(error);
  };
}

/** Undefined if nothing is left, or the program's side is closed. */
function readHeld(fd: number): Buffer | undefined {
  const chunk = Buffer.alloc(64 * 1024);
  try {
    const length = readSync(fd, chunk);
    return length > 0 ? chunk.subarray(0, length) : undefined;
  } catch (error) {
    if (errorCode(error) === 'EAGAIN' || errorCode(error) === 'EIO') return undefined;
    throw error;
  }
}

/** The library's writing busy-loops on a full terminal, which would block the thread. */
function writeTo({ fd, socket }: Descriptors, bytes: Uint8Array): number {
  // After closing, the number may belong to another file.
  if (socket.destroyed) return 0;
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    if (errorCode(error) === 'EAGAIN') return 0;
    // The program's side is closed.
    if (errorCode(error) === 'EIO') return 0;
    throw error;
  }
}

/** Loads the library; rejects where it has no binary for this platform. */
export async function loadPty(): Promise<OpenPty> {
  const { spawn } = await import('node-pty');
  return ({ file, cwd, env, cols, rows }) => {
    const program = withHiddenClosed({ file, args: [] });
    const pty = spawn(program.file, [...program.args], { name: 'xterm-256color', cwd, env, cols, rows });
    const descriptors = descriptorsOf(pty);
    // The library closes the socket on an error; without a listener the error would crash the server.
    descriptors?.socket.on('error', () => undefined);
    if (descriptors) {
      drainBeforeDestroy(descriptors);
      pty.onExit(holdOpen(descriptors));
      // A process that inherits the descriptor could read the screen and type.
      pty.onExit(hideDescriptor(descriptors.fd));
    }
    return {
      pid: pty.pid,
      write(bytes) {
        if (descriptors) return writeTo(descriptors, bytes);
        pty.write(Buffer.from(bytes).toString());
        return bytes.length;
      },
      resize(newCols, newRows) {
        if (!descriptors?.socket.destroyed) pty.resize(newCols, newRows);
      },
      onOutput: (listener) => void pty.onData(listener),
      onExit: (listener) => void pty.onExit(({ exitCode, signal = 0 }) => listener({ exitCode, signal })),
      kill: () => pty.kill(),
    };
  };
}
