/**
 * The machine that a session works on: its files and its processes. Tools, permissions and instructions reach the
 * project through this interface alone, so that another machine can stand behind it. Paths are absolute; what fails
 * rejects with an error that carries the system's code, such as `ENOENT`.
 */
import type { ReadLimits } from '#server/files/read-regular.ts';
import type { Spawn } from '#server/processes/spawn.ts';

export interface FileStats {
  isFile(): boolean;
  isDirectory(): boolean;
  size: number;
  mtimeMs: number;
  /** Of the last change of content, name or permissions, in ms. */
  ctimeMs: number;
  /** Which file of its volume it is. */
  ino: number;
  /** The user who owns it. */
  uid: number;
}

export interface DirectoryEntry {
  name: string;
  /** Of the entry itself; a link is none. */
  isDirectory(): boolean;
}

/** A file that is read piece by piece. */
export interface OpenFile {
  readonly stats: FileStats;
  /** The next bytes, at most so many; none at the end. */
  read(maxBytes: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

export interface Runtime {
  /** What `~` stands for. */
  homeDirectory(): string;
  /** Variables of a child process unless it is given others; the server's own secrets are not among them. */
  environment(): NodeJS.ProcessEnv;

  /** The user as whom the runtime works; undefined where files have no such owners (Windows). */
  effectiveUser(): number | undefined;

  /**
   * The whole of a regular file within the limits. Never waits for the other end of a pipe. There is no variant without
   * a bound: any file may have been put there by somebody else.
   */
  readFile(path: string, limits: ReadLimits): Promise<Uint8Array>;
  /** Opens whatever the path names without waiting for it: pipes and devices too, which `stats` tells apart. */
  openFile(path: string): Promise<OpenFile>;
  /**
   * Replaces a regular file whole or not at all, or adds to its end; creates it and its directories when missing.
   * Permission bits stay as they were. `path` has its links resolved. Returns the facts of the written file.
   */
  writeFile(path: string, data: string | Uint8Array, options?: { append?: boolean }): Promise<FileStats>;
  /** Links are followed. */
  stat(path: string): Promise<FileStats>;
  /** Of a link itself. */
  lstat(path: string): Promise<FileStats>;
  /**
   * The path with all links resolved. What does not exist yet is placed below its nearest existing ancestor, through
   * links to nowhere too, since writing to them would create their targets.
   */
  realpath(path: string): Promise<string>;
  /** The entries of a directory, in any order. */
  list(path: string): Promise<DirectoryEntry[]>;

  /**
   * Where a program is: an absolute path that can be executed, or a name found on `path`, the environment's PATH by
   * default. Undefined when missing.
   */
  which(program: string, path?: string): Promise<string | undefined>;
  spawn: Spawn;
}
