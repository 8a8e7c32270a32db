/**
 * A program on a pseudo terminal of this machine. The library forks it and reads from it; writing is ours, and so is
 * knowing when the descriptor must not be used any more.
 */
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { IPty } from 'node-pty';
import { errorCode } from '#server/files/errno.ts';
import { hideDescriptor, withHiddenClosed } from '#server/processes/hidden-descriptors.ts';

export interface PtyRequest {
  /** A path, or a name found on PATH. */
  file: string;
  cwd: string;
  /** All variables of the program. */
  env: NodeJS.ProcessEnv;
  cols: number;
  rows: number;
}

export interface PtyExit {
  exitCode: number;
  /** Number of the signal that ended the program; 0 when none did. */
  signal: number;
}

export interface Pty {
  readonly pid: number;
  /** Writes what the program's side takes at once; returns the number of bytes, 0 once it is over. */
  write(bytes: Uint8Array): number;
  resize(cols: number, rows: number): void;
  /** Told what the program writes, as it comes, in whole characters. */
  onOutput(listener: (text: string) => void): void;
  /** Called once, behind all output. */
  onExit(listener: (exit: PtyExit) => void): void;
  /** Hangs up where there are no process groups. */
  kill(): void;
}

/** Starts a program. One that cannot be run exits with 1. */
export type OpenPty = (request: PtyRequest) => Pty;

/** What the library has beside its declared types, where there are Unix descriptors. */
interface Descriptors {
  fd: number;
  /** Of the program's side. */
  ptsName: string;
  /** Of our side. */
  socket: Socket;
}

function descriptorsOf(pty: IPty): Descriptors | undefined {
  if (!('fd' in pty && 'ptsName' in pty && '_socket' in pty)) return undefined;
  const { fd, ptsName, _socket: socket } = pty;
  if (typeof fd !== 'number' || typeof ptsName !== 'string' || !(socket instanceof Socket)) return undefined;
  return { fd, ptsName, socket };
}

/**
 * Keeps the program's side open until it has exited: on Linux, what the last program writes before it ends is lost
 * otherwise whenever the hang-up is seen before the read. Returns how to let go.
 */
function holdOpen({ ptsName }: Descriptors): () => void {
  if (process.platform !== 'linux') return () => undefined;
  let fd: number;
  try {
    // A device in memory: nothing here waits.
    fd = openSync(ptsName, constants.O_RDWR | constants.O_NOCTTY);
  } catch {
    // It has ended already.
    return () => undefined;
  }
  return () => closeSync(fd);
}

/** The library's own writing retries a full terminal in a loop that never lets go of the thread. */
function writeTo({ fd, socket }: Descriptors, bytes: Uint8Array): number {
  // Once it is closed, the number may be that of another file.
  if (socket.destroyed) return 0;
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    if (errorCode(error) === 'EAGAIN') return 0;
    // The program's side is gone.
    if (errorCode(error) === 'EIO') return 0;
    throw error;
  }
}

/** Loads the library; rejects where it has no binary for this machine. */
export async function loadPty(): Promise<OpenPty> {
  const { spawn } = await import('node-pty');
  return ({ file, cwd, env, cols, rows }) => {
    const program = withHiddenClosed({ file, args: [] });
    const pty = spawn(program.file, [...program.args], { name: 'xterm-256color', cwd, env, cols, rows });
    const descriptors = descriptorsOf(pty);
    // What it cannot read any more it closes by itself; unheard, the failure would end the server.
    descriptors?.socket.on('error', () => undefined);
    if (descriptors) {
      pty.onExit(holdOpen(descriptors));
      // Whoever has it can read the screen and type.
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
