/** A session's index row from its folder alone (records.md §3.6): `state.json`, and the journal for what both hold. */
import { open } from 'node:fs/promises';
import { createBlobStore } from '../journal/blobs.ts';
import { parseBatch, readLines } from '../journal/line-reader.ts';
import { indexProjection, type IndexState } from '../journal/projections/index-row.ts';
import { isBusy, statusProjection } from '../journal/projections/status.ts';
import { journalPath, readHeader } from '../journal/replay.ts';
import { createStateFile } from '../journal/state-file.ts';
import type { Logger } from '../log.ts';
import type { TurnOutcome } from '../schema/scalars.ts';
import { errorCode } from '../storage/errno.ts';
import type { ReadSessionFolder } from './session-folders.ts';

type JournalFacts = Omit<IndexState, 'workspaceId'> & { lastTurnReason: TurnOutcome | undefined; open: boolean };

/** Undefined when there is no journal. Throws 50001 when it is damaged. */
async function journalFacts(dir: string): Promise<JournalFacts | undefined> {
  const file = await open(journalPath(dir), 'r').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (!file) return undefined;
  try {
    const head = await readHeader(file);
    if (!head) return undefined;
    const blobs = createBlobStore(dir);
    const index = indexProjection.initial(head.header);
    const status = statusProjection.initial(head.header);
    for await (const lines of readLines(file, head.end)) {
      for (const line of lines) {
        const { t, records } = parseBatch(line, blobs);
        for (const record of records) {
          indexProjection.apply(index, record, t);
          statusProjection.apply(status, record, t);
        }
      }
    }
    const { workspaceId: _folderKnows, ...facts } = index;
    return { ...facts, lastTurnReason: status.outcome, open: isBusy(status) };
  } finally {
    await file.close();
  }
}

/** A damaged journal must not hide its session from the list: then `state.json` speaks alone (core.md §5.2). */
export function createFolderReader({ log }: { log: Logger }): ReadSessionFolder {
  return async ({ dir, id, workspaceId }) => {
    const state = await createStateFile(dir).read();
    if (!state) return undefined;
    if (state.id !== id) throw new Error(`state.json in ${dir} is that of session ${state.id}`);
    const facts = await journalFacts(dir).catch((error: unknown) => {
      log.warn('a journal cannot be read; the index knows its session from state.json', { dir, err: error });
      return undefined;
    });
    return {
      id,
      workspaceId,
      cwd: state.cwd,
      title: state.title ?? '',
      titleKind: state.titleKind,
      lastPrompt: state.lastPrompt,
      lastTurnReason: state.lastTurnReason,
      createdAt: state.createdAt,
      forkedFrom: state.forkedFrom,
      open: false,
      ...facts,
      updatedAt: Math.max(state.updatedAt, facts?.updatedAt ?? 0),
      archived: state.archived,
      archivedAt: state.archivedAt,
      custom: state.custom ?? {},
    };
  };
}
