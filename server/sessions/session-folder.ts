/** A session's row, made from its folder: how the index is filled and repaired (records.md §3.6). */
import { ServiceError } from '#server/errors/service-error.ts';
import { indexRow } from './index-rows.ts';
import { wasReleased } from '#server/journal/lock.ts';
import { openSessionLog, type SessionLog, type SessionLogOptions } from '#server/journal/session-log.ts';
import { createStateFile, type StateDocument } from './state-file.ts';
import type { SessionRow } from './session-row.ts';

/**
 * `state.json` is enough for a session that was closed cleanly. One whose lock was not given back, or that has no
 * `state.json`, is folded; what a dead process left open is settled by that. Undefined when the folder holds no session.
 */
export async function readSessionFolder(
  folder: { dir: string; id: string; workspaceId: string },
  logOptions: Omit<SessionLogOptions, 'dir' | 'sessionId'>,
): Promise<SessionRow | undefined> {
  const { dir, id, workspaceId } = folder;
  const state = await createStateFile(dir).read();
  if (state && (await wasReleased(dir))) return { ...coldRow(state), id, workspaceId, open: false };
  let log: SessionLog;
  try {
    log = await openSessionLog({ ...logOptions, dir, sessionId: id });
  } catch (error) {
    // A damaged journal cannot be loaded, but its session is still listed (core.md §5.2).
    const damaged = error instanceof ServiceError && error.name === 'internal.error';
    if (state && damaged) return { ...coldRow(state), id, workspaceId, open: false };
    throw error;
  }
  const { outcome, ...facts } = indexRow(log.state);
  await log.close();
  if (facts.cwd === '') return undefined;
  return {
    ...facts,
    id,
    workspaceId,
    lastTurnReason: outcome,
    archived: state?.archived ?? false,
    archivedAt: state?.archivedAt,
    custom: state?.custom ?? {},
    updatedAt: Math.max(facts.updatedAt, state?.updatedAt ?? 0),
  };
}

function coldRow(state: StateDocument): Omit<SessionRow, 'id' | 'workspaceId' | 'open'> {
  return {
    cwd: state.cwd,
    title: state.title ?? '',
    titleKind: state.titleKind,
    lastPrompt: state.lastPrompt,
    lastTurnReason: state.lastTurnReason,
    createdAt: state.createdAt,
    updatedAt: state.updatedAt,
    archived: state.archived,
    archivedAt: state.archivedAt,
    custom: state.custom ?? {},
    forkedFrom: state.forkedFrom,
  };
}
