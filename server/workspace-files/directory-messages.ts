/** Requests to the thread that reads directories, and its answers. Names are joined with NUL, which no name contains. */
import type { IgnoreTexts } from '#server/ignore-rules/ignore-texts.ts';

/** Entries per message: a directory of usual size needs one. */
export const PORTION = 1024;
/** Numbers of an entry in an answer (mode, size, mtimeMs, ino); all are 0 for an entry that has vanished. */
export const NUMBERS = 4;

export interface FactsRequest {
  kind: 'facts';
  at: string;
  names: string;
}

/** The first message to a thread opens the directory. `from`: entries before it; `facts`: entries to stat. */
export interface PortionRequest {
  kind: 'read';
  reader: number;
  at: string;
  from: number;
  facts: number;
}

export interface CloseRequest {
  kind: 'close';
  reader: number;
}

export interface LevelOptions {
  /** A directory with more entries is not read. */
  most: number;
  /** Whether the texts of ignore files are requested. */
  ignoreFiles: boolean;
}

/** Directories by their paths below `top`; the empty path is `top` itself. */
export interface LevelRequest extends LevelOptions {
  kind: 'level';
  top: string;
  paths: readonly string[];
}

export type DirectoryRequest = FactsRequest | PortionRequest | CloseRequest | LevelRequest;

export interface Facts {
  numbers: Float64Array;
  /** Target texts of the symbolic links, in order. */
  links: string[];
}

export interface Portion extends Facts {
  names: string;
  /** 1 for each entry that is a directory. */
  directories: Uint8Array;
}

export interface Level extends Facts {
  names: string;
  /** Null for a directory that has to be read separately. `texts` are the ignore files, as far as they can be used. */
  read: ({ count: number; texts: IgnoreTexts | null } | null)[];
}
