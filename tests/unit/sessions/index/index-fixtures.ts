import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createLogger } from '#server/logging/log.ts';
import { writeStateFile } from '#server/sessions/index/state-file.ts';
import { createSessionIndex, type SessionIndexDeps } from '#server/sessions/index/session-index.ts';
import { readSessionFolder } from '#server/sessions/index/session-folder.ts';
import { indexSchema, type SessionHeader, type StoredHeader } from '#server/sessions/index/session-header.ts';
import { createIndexDb } from '#server/storage/index-db.ts';
import { leaseHolder } from '#support/lease-holder.ts';

export const WORKSPACE = 'wd_one_000000000001';
const START = Date.UTC(2026, 0, 1);

/** A row with everything a test does not care about filled in. */
export function sessionRow(id: string, members: Partial<SessionHeader> = {}): SessionHeader {
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
    settled: false,
    wakes: [],
    ...members,
  };
}

/** An index over `home`, with the folders it read and the lines it logged. */
export function openIndex(home: string, options: Partial<SessionIndexDeps> = {}) {
  const lines: string[] = [];
  const log = createLogger('warn', (line) => void lines.push(line));
  const db = createIndexDb({ home, schema: indexSchema, log });
  const reads: string[] = [];
  const index = createSessionIndex({
    db,
    log,
    sessionsDir: join(home, 'sessions'),
    read: (folder, known) => {
      reads.push(folder.id);
      return readSessionFolder(folder, known, { holder: leaseHolder(), log });
    },
    ...options,
  });
  onTestFinished(() => index.close());
  return { index, db, reads, lines };
}

export const sessionDir = (home: string, id: string, workspaceId = WORKSPACE) =>
  join(home, 'sessions', workspaceId, id);

/** Writes a session's `state.json` as a server would; there is no journal. */
export async function writeSession(
  home: string,
  id: string,
  members: Partial<SessionHeader> = {},
  { workspaceId = WORKSPACE, revision = 1, journalLength = 0 }: Partial<StoredHeader> & { workspaceId?: string } = {},
) {
  const dir = sessionDir(home, id, workspaceId);
  await mkdir(dir, { recursive: true });
  await writeStateFile(dir, { header: sessionRow(id, members), revision, journalLength });
  return dir;
}
