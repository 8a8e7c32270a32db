/** Messages between the main thread and the search thread. */
import * as z from 'zod';
import type { Incomplete } from '#schema/rest/search.ts';
import type { Query } from './query.ts';

/** A session whose journal has grown, or whose header changed. */
export const hintSchema = z.object({
  id: z.string(),
  workspaceId: z.string(),
  archived: z.boolean(),
  folder: z.string(),
  /** Bytes of its journal. */
  length: z.number(),
});
export type Hint = z.infer<typeof hintSchema>;

/** The query has been checked by `parseQuery`. */
export interface SearchJob {
  query: Query;
  size: number;
  token?: string | undefined;
  /** The session that is searched, if it is loaded: its journal is indexed first. */
  live?: Hint | undefined;
}

export type ThreadRequest =
  | { kind: 'search'; job: SearchJob }
  /** Opens the index; the answer is undefined. */
  | { kind: 'open' };

export interface FoundDocument {
  sessionId: string;
  agentId: string;
  role: 'user' | 'assistant' | 'title';
  snippet: string;
  time: number;
  turn?: number | undefined;
  step?: number | undefined;
  score: number;
}

export interface SearchAnswer {
  found: FoundDocument[];
  hasMore: boolean;
  token?: string | undefined;
  incomplete?: Incomplete | undefined;
  state: 'building' | 'ready' | 'readonly';
  indexedSessions: number;
  documents: number;
  /** The failure of the last refresh. */
  degraded?: string | undefined;
}

/** Messages to the thread without an answer. */
export const noticeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('hints'), hints: z.array(hintSchema) }),
  /** Whether this server fills the index with cold sessions, as the holder of the lease. */
  z.object({ kind: z.literal('fill'), active: z.boolean() }),
]);
export type Notice = z.infer<typeof noticeSchema>;

/** Messages of the thread that are no answers. */
export const reportSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('log'), level: z.enum(['info', 'warn', 'error']), message: z.string() }),
  /** The lease must be checked: a notice `fill` follows. */
  z.object({ kind: z.literal('checkLease') }),
]);
export type Report = z.infer<typeof reportSchema>;

export const workerDataSchema = z.object({
  /** Files of the search index and of the session index, and the folder of the sessions. */
  path: z.string(),
  sessionIndex: z.string(),
  sessionsDir: z.string(),
  /** Milliseconds between two passes over all sessions. */
  passEveryMs: z.number(),
  /** File of the SQLite library. */
  libsql: z.string(),
  /** See `call-guard.ts`. */
  calls: z.custom<Int32Array<SharedArrayBuffer>>((value) => value instanceof Int32Array),
});
export type SearchWorkerData = z.infer<typeof workerDataSchema>;
