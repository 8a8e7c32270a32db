/**
 * The repair pass of the session index: compares `sessions/<workspace id>/<session id>/` with the rows in a thread, and
 * reads only folders that the index does not have in their current state. Only rows are written; unfinished folders of
 * killed servers are removed.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { yieldToLoop } from '#server/async/yield.ts';
import type { Logger } from '#server/logging/log.ts';
import { errorCode } from '#server/errors/errno.ts';
import type { IndexDb } from '#server/storage/derived-db.ts';
import type { FolderName } from './folder-comparison.ts';
import { openComparisonThread, type ComparisonThread } from './open-thread.ts';
import type { StoredHeader } from './session-header.ts';
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
/** Rows that are compared in one request of the thread. */
const ROWS_AT_ONCE = 500;

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
    rowNumber: z.number(),
    id: z.string(),
    workspaceId: z.string(),
    revision: z.number(),
    mtime: z.number().nullable(),
    size: z.number().nullable(),
  }),
);
type Known = z.infer<typeof knownRows>[number];

/** In the order of the table: in that of ids, each row is on another page, which may have to be read from the disk. */
const KNOWN = `SELECT rowid AS rowNumber, id, workspace_id AS workspaceId, revision, state_mtime AS mtime,
  state_size AS size FROM sessions WHERE rowid > @after ORDER BY rowid LIMIT ${ROWS_AT_ONCE}`;

const rowsAfter = ({ db }: RepairPass, after: number): Known[] =>
  knownRows.parse(db.run(({ all }) => all(KNOWN, { after })));

async function isEmpty(pass: RepairPass): Promise<boolean> {
  if (rowsAfter(pass, 0).length > 0) return false;
  try {
    return (await readdir(pass.sessionsDir)).length === 0;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return true;
    throw error;
  }
}

/**
 * Reads the folders once; rows that were written meanwhile stay unchanged. Resolves to true if the system refused to
 * read a folder that the previous pass could read: another pass soon may succeed.
 */
export async function repairPass(pass: RepairPass): Promise<boolean> {
  const { sessionsDir, passedOver } = pass;
  const refusedBefore = new Set([...passedOver.keys()].filter((dir) => passedOver.get(dir) === REFUSED));
  // A new home needs no thread.
  if (!(await isEmpty(pass))) {
    const thread = openComparisonThread(sessionsDir);
    try {
      await repairRows(pass, thread);
      await addFolders(pass, thread);
    } finally {
      await thread.close();
    }
  }
  return [...passedOver].some(([dir, seenAs]) => seenAs === REFUSED && !refusedBefore.has(dir));
}

/** Reads the folders of rows that differ, and removes rows without a folder. */
async function repairRows(pass: RepairPass, thread: ComparisonThread): Promise<void> {
  let known = rowsAfter(pass, 0);
  for (let last = known.at(-1); last && !pass.stopped(); last = known.at(-1)) {
    const { changed, removed } = await thread.compare(known);
    const rowsOf = (indexes: readonly number[]) => indexes.flatMap((index) => known[index] ?? []);
    await readFolders(pass, rowsOf(changed));
    removeRows(pass, rowsOf(removed));
    await yieldToLoop();
    known = rowsAfter(pass, last.rowNumber);
  }
}

/** Reads the folders without a row. */
async function addFolders(pass: RepairPass, thread: ComparisonThread): Promise<void> {
  while (!pass.stopped()) {
    const found = await thread.rest();
    if (found.length === 0) break;
    await sweep(
      pass,
      found.filter(({ name }) => isUnfinished(name)),
    );
    await readFolders(
      pass,
      found.flatMap(({ workspaceId, name: id }) => (isUnfinished(id) ? [] : [{ workspaceId, id }])),
    );
  }
}

/** A folder to read, with its row when it was compared. */
type ReadFolder = Pick<Known, 'workspaceId' | 'id'> & Partial<Known>;

async function readFolders(pass: RepairPass, folders: readonly ReadFolder[]): Promise<void> {
  const { db, rows, stopped } = pass;
  for (let start = 0; start < folders.length && !stopped(); start += FOLDERS_AT_ONCE) {
    const batch = folders.slice(start, start + FOLDERS_AT_ONCE);
    const changes = await Promise.all(batch.map((folder) => readFolder(pass, folder)));
    const found = changes.filter((change) => change !== undefined);
    if (found.length === 0) continue;
    db.run((connection) => {
      connection.transaction(() => {
        for (const { stored, seen, stamp } of found) rows.repair(connection, stored, stamp, seen);
      });
    });
  }
}

function removeRows({ db }: RepairPass, removed: readonly Known[]): void {
  if (removed.length === 0) return;
  db.run((connection) => {
    connection.transaction(() => {
      for (const { id, revision } of removed) {
        connection.run('DELETE FROM sessions WHERE id = @id AND revision = @revision', { id, revision });
      }
    });
  });
}

async function sweep({ sessionsDir, log }: RepairPass, folders: readonly FolderName[]): Promise<void> {
  for (const { workspaceId, name } of folders) {
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
const sameFile = (row: ReadFolder, stamp: FileStamp | undefined) =>
  row.mtime === (stamp?.mtime ?? null) && row.size === (stamp?.size ?? null);

async function readFolder(
  { db, rows, sessionsDir, read, log, passedOver }: RepairPass,
  known: ReadFolder,
): Promise<FolderChange | undefined> {
  const { workspaceId, id } = known;
  const isIndexed = known.revision !== undefined;
  const dir = join(sessionsDir, workspaceId, id);
  const warn = (err: unknown) =>
    log.warn('a session folder cannot be read and is left out of the index', { sessionId: id, dir, err });
  try {
    const stamp = await stateStamp(dir);
    const seenAs = `${stamp?.mtime} ${stamp?.size}`;
    if (isIndexed ? sameFile(known, stamp) : passedOver.get(dir) === seenAs) return undefined;
    const row = db.run((connection) => rows.stored(connection, id));
    // The session was created since the rows were read, or the folder is a copy of another workspace's.

    if (row && !isIndexed) return undefined;
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
