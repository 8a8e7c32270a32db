/** Reads a session's header from its folder, to fill and repair the index. Writes and locks no file. */
import { ServiceError } from '#server/errors/service-error.ts';
import { foldJournal, type FoldedJournal } from '#server/journal/cold-fold.ts';
import { wasReleased } from '#server/journal/lock.ts';
import { journalFiles } from '#server/journal/journal-files.ts';
import { foldedHeader, type StoredHeader } from './session-header.ts';
import type { Logger } from '#server/logging/log.ts';
import { readStateFile } from './state-file.ts';

export interface SessionFolder {
  dir: string;
  id: string;
  workspaceId: string;
}

/**
 * Returns the header to store for the session; undefined if the folder contains none. `known` is the index row. It is
 * returned unchanged unless `state.json` has a later revision of the members that no journal has, or the journal is
 * shorter than the row's: then the folder was restored from a backup.
 */
export async function readSessionFolder(
  { dir, id, workspaceId }: SessionFolder,
  known: StoredHeader | undefined,
  { log, ...folding }: Pick<FoldedJournal, 'holder' | 'projections'> & { log: Logger },
): Promise<StoredHeader | undefined> {
  const onDamage = (err: unknown) =>
    log.warn('the state.json of a session is damaged; its journal is read', { sessionId: id, dir, err });
  const [state, size] = await Promise.all([readStateFile(dir, workspaceId, onDamage), journalFiles.size(dir)]);
  if (known && size >= known.journalLength) {
    if (!state || state.revision <= known.revision) return known;
    const { archived, archivedAt, custom, updatedAt } = state.header;
    const header = { ...known.header, archived, archivedAt, custom };
    header.updatedAt = Math.max(header.updatedAt, updatedAt);
    return { ...known, header, revision: state.revision };
  }
  const revision = Math.max(state?.revision ?? 0, known?.revision ?? 0) + 1;
  // The session was closed cleanly and not written since.
  if (state && state.journalLength === size && (await wasReleased(dir))) return { ...state, revision };
  try {
    const fold = await foldJournal({ dir, sessionId: id, ...folding });
    const header = foldedHeader(fold.state, { id, workspaceId }, state?.header);
    if (header.cwd === '') return state && { ...state, revision };
    const current = fold.unsettled ? { ...header, open: true, settled: false } : header;
    return { header: current, revision, journalLength: fold.length };
  } catch (error) {
    // A damaged journal cannot be loaded, but its session is still listed.
    if (state && error instanceof ServiceError) return { ...state, revision };
    throw error;
  }
}
