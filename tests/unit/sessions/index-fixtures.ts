import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createLogger } from '#server/logging/log.ts';
import { createStateFile, STATE_VERSION, type StateDocument } from '#server/sessions/state-file.ts';
import { createSessionIndex, type SessionIndexDeps } from '#server/sessions/session-index.ts';
import { readSessionFolder } from '#server/sessions/session-folder.ts';
import type { SessionRow } from '#server/sessions/session-row.ts';
import { createIndexDb } from '#server/storage/index-db.ts';
import { leaseHolder } from '#support/lease-holder.ts';

export const WORKSPACE = 'wd_one_000000000001';
const START = Date.UTC(2026, 0, 1);

/** A row with everything a test does not care about filled in. */
export function sessionRow(id: string, members: Partial<SessionRow> = {}): SessionRow {
  return {
    id,
    workspaceId: WORKSPACE,
    cwd: '/projects/one',
    title: '',
    createdAt: START,
    updatedAt: START,
    archived: false,
    custom: {},
    open: false,
    ...members,
  };
}

/** An index over `home`, with the folders it read and the lines it logged. */
export function openIndex(home: string, options: Partial<SessionIndexDeps> = {}) {
  const lines: string[] = [];
  const log = createLogger('warn', (line) => void lines.push(line));
  const db = createIndexDb({ home, log });
  const sink = { publish: () => undefined };
  const logOptions = { sink, holder: leaseHolder(), log, version: '1.0.0', onFailure: () => undefined };
  const reads: string[] = [];
  const index = createSessionIndex({
    db,
    log,
    sessionsDir: join(home, 'sessions'),
    read: (folder) => {
      reads.push(folder.id);
      return readSessionFolder(folder, logOptions);
    },
    ...options,
  });
  onTestFinished(() => index.close());
  return { index, reads, lines };
}

export const sessionDir = (home: string, id: string, workspaceId = WORKSPACE) =>
  join(home, 'sessions', workspaceId, id);

/** Writes a session's `state.json` as a server would. */
export async function writeSession(
  home: string,
  id: string,
  members: Partial<StateDocument> = {},
  workspaceId = WORKSPACE,
) {
  const dir = sessionDir(home, id, workspaceId);
  await mkdir(dir, { recursive: true });
  await createStateFile(dir).write({
    id,
    version: STATE_VERSION,
    createdAt: START,
    updatedAt: START,
    archived: false,
    cwd: '/projects/one',
    agents: {},
    ...members,
  });
  return dir;
}
