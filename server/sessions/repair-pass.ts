/**
 * The repair pass of the session index: compares `sessions/<workspace id>/<session id>/` with the rows and reads only
 * what the index cannot know. A session whose row is current costs one `stat`.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Logger } from '#server/logging/log.ts';
import { errorCode } from '#server/files/errno.ts';
import type { IndexDb } from '#server/storage/index-db.ts';
import { rowBinding, type SessionRow } from './session-row.ts';

/** What a folder says; undefined when it holds no session. Throws when the session cannot be read. */
export type ReadSessionFolder = (folder: {
  dir: string;
  id: string;
  workspaceId: string;
}) => Promise<SessionRow | undefined>;

/** Folders looked at together, and rows a transaction. */
const FOLDERS_AT_ONCE = 32;

/** How far behind its `upsert` the writing of a session's `state.json` may end. */
const UPSERT_TO_FILE_MS = 5_000;

export interface RepairPass {
  db: IndexDb;
  log: Logger;
  sessionsDir: string;
  read: ReadSessionFolder;
  /** Writes a row where `@seen` is still its revision. */
  upsertSql: string;
  /** Ends the pass early. */
  stopped: () => boolean;
  /** Folders without a readable session, with the modification time at which that was found. */
  passedOver: Map<string, number>;
}

const workspaceRows = z.array(z.object({ workspace_id: z.string().nullable() }));
const knownRows = z.array(
  z.object({ id: z.string(), revision: z.number(), indexed_at: z.number(), state_mtime: z.number().nullable() }),
);
type Known = z.infer<typeof knownRows>[number];

async function directories(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

async function modified(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** A row read from the folder is as old as the file then was; one from `upsert` belongs to the file of that moment. */
const isCurrent = ({ state_mtime, indexed_at }: Known, mtime: number) =>
  state_mtime === null ? mtime <= indexed_at + UPSERT_TO_FILE_MS : mtime === state_mtime;

/** Reads the folders once. Rows written meanwhile by anybody are left alone. */
export async function repairPass(pass: RepairPass): Promise<void> {
  const { db, sessionsDir, stopped } = pass;
  const indexed = workspaceRows.parse(db.run(({ all }) => all('SELECT DISTINCT workspace_id FROM sessions')));
  const workspaceIds = new Set(await directories(sessionsDir));
  for (const { workspace_id: id } of indexed) if (id !== null) workspaceIds.add(id);
  for (const workspaceId of workspaceIds) {
    if (stopped()) return;
    await scanWorkspace(pass, workspaceId);
  }
}

async function scanWorkspace(pass: RepairPass, workspaceId: string): Promise<void> {
  const { db, sessionsDir, stopped } = pass;
  // The rows first: a folder is made before its row, so a row without a folder now is of a session that went.
  const sql = 'SELECT id, revision, indexed_at, state_mtime FROM sessions WHERE workspace_id = @workspace_id';
  const known = new Map(
    knownRows.parse(db.run(({ all }) => all(sql, { workspace_id: workspaceId }))).map((row) => [row.id, row]),
  );
  const ids = await directories(join(sessionsDir, workspaceId));
  for (let start = 0; start < ids.length && !stopped(); start += FOLDERS_AT_ONCE) {
    const batch = ids.slice(start, start + FOLDERS_AT_ONCE);
    const changes = await Promise.all(batch.map((id) => readFolder(pass, workspaceId, id, known.get(id))));
    const found = changes.filter((change) => change !== undefined);
    if (found.length === 0) continue;
    db.run((connection) =>
      connection.transaction(() => {
        for (const { row, seen, mtime, readAt } of found) {
          connection.run(pass.upsertSql, { ...rowBinding(row), seen, indexed_at: readAt, state_mtime: mtime });
        }
      }),
    );
  }
  const present = new Set(ids);
  for (const { id, revision } of known.values()) {
    if (present.has(id)) continue;
    db.run(({ run }) => run('DELETE FROM sessions WHERE id = @id AND revision = @revision', { id, revision }));
  }
}

interface FolderChange {
  row: SessionRow;
  seen: number;
  mtime: number;
  readAt: number;
}

async function readFolder(
  { sessionsDir, read, log, passedOver }: RepairPass,
  workspaceId: string,
  id: string,
  known: Known | undefined,
): Promise<FolderChange | undefined> {
  const dir = join(sessionsDir, workspaceId, id);
  const readAt = Date.now();
  // A session whose server died at its birth has a journal alone.
  const mtime = (await modified(join(dir, 'state.json'))) ?? (await modified(join(dir, 'journal.ndjson')));
  if (mtime === undefined || (known && isCurrent(known, mtime)) || passedOver.get(dir) === mtime) return undefined;
  try {
    const row = await read({ dir, id, workspaceId });
    if (!row) {
      passedOver.set(dir, mtime);
      return undefined;
    }
    passedOver.delete(dir);
    return { row, seen: known?.revision ?? 0, mtime, readAt };
  } catch (error) {
    passedOver.set(dir, mtime);
    log.warn('a session folder cannot be read and is left out of the index', { sessionId: id, dir, err: error });
    return undefined;
  }
}
