/** A session index as schema version 7 wrote it. */
import { createLogger } from '#server/logging/log.ts';
import { createIndexDb } from '#server/storage/index-db.ts';

const SCHEMA = `
  CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE sessions (
    id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL, cwd TEXT NOT NULL, title TEXT NOT NULL, title_kind TEXT,
    last_prompt TEXT, last_turn_reason TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
    archived INTEGER NOT NULL, archived_at INTEGER, custom TEXT NOT NULL, open INTEGER NOT NULL,
    settled INTEGER NOT NULL, wakes TEXT NOT NULL, forked_from TEXT,
    revision INTEGER NOT NULL, journal_length INTEGER NOT NULL, state_mtime REAL, state_size INTEGER
  );
  CREATE INDEX sessions_listed ON sessions (archived, updated_at, id, last_prompt IS NOT NULL);
  CREATE INDEX sessions_created ON sessions (archived, created_at, id);
  CREATE INDEX sessions_workspace ON sessions (workspace_id, updated_at, id);
  CREATE INDEX sessions_children ON sessions (json_extract(custom, '$.parent_session_id'), updated_at, id)
    WHERE json_extract(custom, '$.child_session_kind') = 'child';
  CREATE INDEX sessions_open ON sessions (id) WHERE open = 1;
  CREATE INDEX sessions_waking ON sessions (updated_at, id) WHERE wakes <> '[]' AND archived = 0;
  CREATE TABLE session_counts (workspace_id TEXT PRIMARY KEY, sessions INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TRIGGER session_added AFTER INSERT ON sessions BEGIN
    INSERT INTO session_counts VALUES (new.workspace_id, 1)
    ON CONFLICT (workspace_id) DO UPDATE SET sessions = sessions + 1;
  END;
  CREATE TRIGGER session_removed AFTER DELETE ON sessions BEGIN
    UPDATE session_counts SET sessions = sessions - 1 WHERE workspace_id = old.workspace_id;
  END;
`;

export interface RowV7 {
  id: string;
  workspaceId: string;
  cwd: string;
  title?: string;
  lastPrompt?: string | null;
  lastTurnReason?: string | null;
  updatedAt?: number;
  archived?: 0 | 1;
  /** The stamp of the session's `state.json`. */
  stateMtime?: number | null;
  stateSize?: number | null;
}

const INSERT = `INSERT INTO sessions VALUES (@id, @workspaceId, @cwd, @title, 'custom', @lastPrompt, @lastTurnReason, 1,
  @updatedAt, @archived, NULL, '{"k":1}', 0, 0, '[]', NULL, 3, 0, @stateMtime, @stateSize)`;

const absent = { title: '', lastPrompt: null, lastTurnReason: null, updatedAt: 1, stateMtime: null, stateSize: null };

/** Writes `cache/index-v7.db` of the home; `filled` is false where its server was stopped before all folders were read. */
export function writeIndexV7(home: string, rows: readonly RowV7[], { filled = true } = {}): void {
  const db = createIndexDb({ home, schema: { version: 7, sql: SCHEMA }, log: createLogger('silent') });
  db.run((connection) => {
    connection.transaction(() => {
      for (const row of rows) connection.run(INSERT, { archived: 0, ...absent, ...row });
    });
  });
  if (filled) db.markFilled();
  db.close();
}
