/** The table of the numbers of sessions, which triggers keep: counting rows takes time in proportion to them. */

/** Expressions over a row; SQLite uses an index on an expression only if the query spells it identically. */
const promptedOf = (row = '') => `coalesce(${row}last_prompt, '') <> ''`;
const failedOf = (row = '') => `${row}last_turn_reason IS 'failed'`;
export const PROMPTED = promptedOf();
/** The last turn failed, according to the row; a loaded session may have a later outcome. */
export const FAILED = failedOf();

const changeBy = (step: 1 | -1, row: 'new.' | 'old.') => `
    INSERT INTO session_counts VALUES (${row}workspace_id, ${row}archived, ${promptedOf(row)}, ${failedOf(row)}, ${step})
    ON CONFLICT DO UPDATE SET sessions = sessions + excluded.sessions;`;

/** Creates the table of counts and its triggers. */
export const COUNTS_SQL = `
  CREATE TABLE session_counts (
    workspace_id TEXT NOT NULL,
    archived INTEGER NOT NULL,
    prompted INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    sessions INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, archived, prompted, failed)
  ) WITHOUT ROWID;
  CREATE TRIGGER session_added AFTER INSERT ON sessions BEGIN ${changeBy(1, 'new.')} END;
  CREATE TRIGGER session_removed AFTER DELETE ON sessions BEGIN ${changeBy(-1, 'old.')} END;
  CREATE TRIGGER session_changed AFTER UPDATE OF archived, last_prompt, last_turn_reason ON sessions
    WHEN old.archived <> new.archived
      OR (${promptedOf('old.')}) <> (${promptedOf('new.')})
      OR (${failedOf('old.')}) <> (${failedOf('new.')})
    BEGIN ${changeBy(-1, 'old.')} ${changeBy(1, 'new.')} END;`;
