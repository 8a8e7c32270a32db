/** A home with sessions, their journals and their rows in the session index, for tests of the search index. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createLogger } from '#server/logging/log.ts';
import { entering, event, internal } from '#server/journal/records.ts';
import { indexSchema, type SessionHeader } from '#server/sessions/index/session-header.ts';
import { sessionRows } from '#server/sessions/index/session-rows.ts';
import type { Hint } from '#server/search/messages.ts';
import { createIndexDb, indexPath } from '#server/storage/index-db.ts';
import type { ContextMessage } from '#schema/engine.ts';
import { openLog } from '#support/session-logs.ts';

export const WORKSPACE = 'wd_one_000000000001';

const headerOf = (id: string, updatedAt: number): SessionHeader => ({
  id,
  workspaceId: WORKSPACE,
  cwd: '/projects/one',
  title: '',
  createdAt: updatedAt,
  updatedAt,
  archived: false,
  custom: {},
  open: false,
  settled: false,
  wakes: [],
});

const user = (id: string, text: string): ContextMessage => ({
  role: 'user',
  content: [{ type: 'text', text }],
  toolCalls: [],
  origin: { kind: 'user' },
  id,
});

export interface SearchHome {
  home: string;
  sessionsDir: string;
  /** File of the session index. */
  sessionIndex: string;
  /** Path of a session's journal. */
  journal(id: string): string;
  /** Writes a journal with these prompts, one turn each, and the session's row; later ones are more recent. */
  addSession(id: string, prompts: string[]): Promise<Hint>;
  /** Writes the present length of a journal to the session's row. */
  noteLength(id: string): Promise<Hint>;
  /** Writes any length of a journal to the session's row. */
  setLength(id: string, length: number): Hint;
  close(): void;
}

export function openSearchHome(home: string): SearchHome {
  const db = createIndexDb({ home, schema: indexSchema, log: createLogger('silent') });
  db.markFilled();
  const sessionsDir = join(home, 'sessions');
  const folderOf = (id: string) => join(sessionsDir, WORKSPACE, id);
  const journal = (id: string) => join(folderOf(id), 'journal.ndjson');
  let updatedAt = 0;

  function setLength(id: string, length: number): Hint {
    updatedAt += 1;
    db.run((connection) => sessionRows.upsert(connection, headerOf(id, updatedAt), length));
    return { id, workspaceId: WORKSPACE, archived: false, folder: folderOf(id), length };
  }

  const noteLength = async (id: string) => setLength(id, (await stat(journal(id))).size);

  return {
    home,
    sessionsDir,
    sessionIndex: indexPath(home, indexSchema),
    journal,
    async addSession(id, prompts) {
      const { log } = await openLog(folderOf(id), { sink: { publish() {} } });
      await log.claim();
      log.append([
        event('main', 'agent.created', {}, { kind: 'main' }),
        internal('main', 'agent.config', { model: 'm1', permission: 'manual', maxContextTokens: 1000 }),
      ]);
      for (const [turnId, prompt] of prompts.entries()) {
        const promptId = `msg_${turnId}`;
        log.append([
          event('main', 'turn.started', { turnId, promptId, origin: { kind: 'user' }, prompt }),
          entering('main', [user(promptId, prompt)], { cause: 'input', enters: 'turn' }),
        ]);
        log.append([event('main', 'turn.ended', { turnId, reason: 'completed', durationMs: 1 })]);
      }
      await log.close();
      return noteLength(id);
    },
    noteLength,
    setLength,
    close: () => db.close(),
  };
}
