/**
 * The repair pass of the session index: compares `sessions/<workspace id>/<session id>/` with the rows and reads only
 * folders that the index does not have in their current state. A session whose row is current costs one `stat`. Only
 * rows are written; unfinished folders of killed servers are removed.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Logger } from '#server/logging/log.ts';
import { errorCode } from '#server/errors/errno.ts';
import type { IndexDb } from '#server/storage/derived-db.ts';
import { IN_WORKSPACE, type StoredHeader } from './session-header.ts';
import { countByWorkspace } from './session-counts.ts';
import type { SessionFolder } from './session-folder.ts';
import type { SessionRows } from './session-rows.ts';
import { isUnfinished, removeAbandoned } from './unfinished-folders.ts';
import { stateStamp, type FileStamp } from './state-file.ts';

/** Reads the header of a folder's session; undefined if the folder contains none. Throws if it cannot be read. */
export type ReadSessionFolder = (
  folder: SessionFolder,
  known: StoredHeader | undefined,
) => Promise<StoredHeader | undefined>;

/** Number of folders that are read concurrently, and of rows per transaction. */
const FOLDERS_AT_ONCE = 32;

export interface RepairPass {
  db: IndexDb;
  rows: SessionRows;
  log: Logger;
  sessionsDir: string;
  read: ReadSessionFolder;
  /** Ends the pass early. */
  stopped: () => boolean;
  /** Folders without a readable session, with the stamp of their state file at that read. */
  passedOver: Map<string, string>;
}

const knownRows = z.array(
  z.object({
    id: z.string(),
    revision: z.number(),
    state_mtime: z.number().nullable(),
    state_size: z.number().nullable(),
  }),
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

/**
 * Reads the folders once; rows that were written meanwhile stay unchanged. Resolves to true if the system refused to
 * read a folder that the previous pass could read: another pass soon may succeed.
 */
export async function repairPass(pass: RepairPass): Promise<boolean> {
  const { db, sessionsDir, stopped, passedOver } = pass;
  const refusedBefore = new Set([...passedOver.keys()].filter((dir) => passedOver.get(dir) === REFUSED));
  const indexed = db.run(countByWorkspace);
  const workspaceIds = new Set(await directories(sessionsDir));
  for (const { workspaceId } of indexed) workspaceIds.add(workspaceId);
  for (const workspaceId of workspaceIds) {
    if (stopped()) break;
    await scanWorkspace(pass, workspaceId);
  }
  return [...passedOver].some(([dir, seenAs]) => seenAs === REFUSED && !refusedBefore.has(dir));
}

async function scanWorkspace(pass: RepairPass, workspaceId: string): Promise<void> {
  const { db, rows, sessionsDir, stopped } = pass;
  // Rows are read before folders: a folder is created before its row, so a row without a folder belongs to a removed
  // session.
  const sql = `SELECT id, revision, state_mtime, state_size FROM sessions WHERE ${IN_WORKSPACE}`;
  const known = new Map(
    knownRows.parse(db.run(({ all }) => all(sql, { workspace: workspaceId }))).map((row) => [row.id, row]),
  );
  const names = await directories(join(sessionsDir, workspaceId));
  await sweep(pass, workspaceId, names.filter(isUnfinished));
  const ids = names.filter((name) => !isUnfinished(name));
  for (let start = 0; start < ids.length && !stopped(); start += FOLDERS_AT_ONCE) {
    const batch = ids.slice(start, start + FOLDERS_AT_ONCE);
    const changes = await Promise.all(batch.map((id) => readFolder(pass, workspaceId, id, known.get(id))));
    const found = changes.filter((change) => change !== undefined);
    if (found.length === 0) continue;
    db.run((connection) => {
      connection.transaction(() => {
        for (const { stored, seen, stamp } of found) rows.repair(connection, stored, stamp, seen);
      });
    });
  }
  const present = new Set(ids);
  for (const { id, revision } of known.values()) {
    if (present.has(id)) continue;
    db.run(({ run }) => run('DELETE FROM sessions WHERE id = @id AND revision = @revision', { id, revision }));
  }
}

async function sweep({ sessionsDir, log }: RepairPass, workspaceId: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const dir = join(sessionsDir, workspaceId, name);
    await removeAbandoned(dir).catch((err: unknown) => {
      // The folder was renamed meanwhile, because its copy is complete.
      if (errorCode(err) !== 'ENOENT')
        log.warn('what a dead server left unfinished could not be removed', { dir, err });
    });
  }
}

/** Replaces the stamp of a folder that could not be read; equal to no stamp. */
const REFUSED = '';

interface FolderChange {
  stored: StoredHeader;
  /** Revision of the row before the folder was read; 0 if there was none. */
  seen: number;
  stamp: FileStamp | undefined;
}

/** Whether the state file is unchanged since the row was written; a session that was never closed may have no file. */
const sameFile = (row: Known, stamp: FileStamp | undefined) =>
  row.state_mtime === (stamp?.mtime ?? null) && row.state_size === (stamp?.size ?? null);

async function readFolder(
  { db, rows, sessionsDir, read, log, passedOver }: RepairPass,
  workspaceId: string,
  id: string,
  known: Known | undefined,
): Promise<FolderChange | undefined> {
  const dir = join(sessionsDir, workspaceId, id);
  const warn = (err: unknown) =>
    log.warn('a session folder cannot be read and is left out of the index', { sessionId: id, dir, err });
  try {
    const stamp = await stateStamp(dir);
    const seenAs = `${stamp?.mtime} ${stamp?.size}`;
    if (known ? sameFile(known, stamp) : passedOver.get(dir) === seenAs) return undefined;
    const row = known && db.run((connection) => rows.stored(connection, id));
    const stored = await read({ dir, id, workspaceId }, row).catch((error: unknown) => {
      if (errorCode(error) !== undefined) throw error;
      warn(error);
      return undefined;
    });
    if (stored) passedOver.delete(dir);
    else passedOver.set(dir, seenAs);
    return stored && { stored, seen: row?.revision ?? 0, stamp };
  } catch (error) {
    // A refused read may succeed in the next pass; it is logged once.
    if (passedOver.get(dir) !== REFUSED) warn(error);
    passedOver.set(dir, REFUSED);
    return undefined;
  }
}
