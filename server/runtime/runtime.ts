/**
 * The machine that a session works on: its files and processes. Tools, permissions and instructions access the project
 * only through this interface, so that a remote machine can implement it. Paths are absolute; failures reject with an
 * error that has the system's code, such as `ENOENT`.
 */
import type { ReadLimits } from '#server/files/read-regular.ts';
import type { Spawn } from '#server/processes/spawn.ts';

export interface FileStats {
  isFile(): boolean;
  isDirectory(): boolean;
  size: number;
  mtimeMs: number;
  /** Time of the last change of content, name or permissions, in ms. */
  ctimeMs: number;
  /** Inode number, unique within the volume. */
  ino: number;
  /** User id of the owner. */
  uid: number;
}

export interface DirectoryEntry {
  name: string;
  /** True if the entry itself is a regular file; false for a link to one. */
  isFile(): boolean;
  /** True if the entry itself is a directory; false for a link to one. */
  isDirectory(): boolean;
}

/** A file that is read in chunks. */
export interface OpenFile {
  readonly stats: FileStats;
  /** The next bytes, at most `maxBytes`; empty at the end of the file. */
  read(maxBytes: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

export interface Runtime {
  /** The directory to which `~` expands. */
  homeDirectory(): string;
  /** Default environment of child processes; excludes the server's secrets. */
  environment(): NodeJS.ProcessEnv;

  /** User id under which the runtime works; undefined if files have no such owners (Windows). */
  effectiveUser(): number | undefined;

  /**
   * Reads a whole regular file within the limits. Never waits for the other end of a pipe. There is no variant without
   * a limit, because files are untrusted.
   */
  readFile(path: string, limits: ReadLimits): Promise<Uint8Array>;
  /** Opens any path without blocking, including pipes and devices, which `stats` distinguishes. */
  openFile(path: string): Promise<OpenFile>;
  /**
   * Replaces a regular file atomically, or appends to it; creates it and its directories if missing. Preserves
   * permission bits. `path` must have its links resolved. Returns the stats of the written file.
   */
  writeFile(path: string, data: string | Uint8Array, options?: { append?: boolean }): Promise<FileStats>;
  /** Follows links. */
  stat(path: string): Promise<FileStats>;
  /** Does not follow links. */
  lstat(path: string): Promise<FileStats>;
  /**
   * The path with all links resolved. A missing path is resolved from its nearest existing ancestor, also through
   * dangling links, because writing to them would create their targets.
   */
  realpath(path: string): Promise<string>;
  /** Entries of a directory, in any order. */
  list(path: string): Promise<DirectoryEntry[]>;

  /**
   * Locates a program: an absolute path is checked for execute permission, a name is searched on `path` (default: the
   * environment's PATH). Undefined if it is missing.
   */
  which(program: string, path?: string): Promise<string | undefined>;
  spawn: Spawn;
}
