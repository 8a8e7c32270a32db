/** The tables of `cache/search-v<n>.db`, which is derived from the journals and can be removed at any time. */
import type { IndexSchema } from '#server/storage/derived-db.ts';

/**
 * Texts are stored once, in a table of their own, so that the rows that a query filters stay small. The two FTS tables
 * have no content: `words` has the terms that we make (`words.ts`), separated by spaces, in columns by their number of
 * occurrences; `trigrams` has the normalized text. Triggers count documents.
 *
 * `length` is how many bytes of a session's journal are indexed, `fold` the state of the projection at that place;
 * `failed_length` is the length of a journal that could not be read, which is tried again when it changes.
 */
export const searchSchema: IndexSchema = {
  /** Increases with each change of the tables, of the terms or of what is a document. */
  version: 1,
  sql: `
  CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  INSERT INTO facts VALUES ('generation', lower(hex(randomblob(8)))), ('documents', '0');
  CREATE TABLE sessions (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    workspace_id TEXT NOT NULL,
    archived INTEGER NOT NULL,
    epoch TEXT NOT NULL,
    length INTEGER NOT NULL,
    fold TEXT NOT NULL,
    failed_length INTEGER,
    documents INTEGER NOT NULL
  );
  CREATE TABLE documents (
    number INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    key TEXT NOT NULL,
    agent TEXT NOT NULL,
    record INTEGER NOT NULL,
    role TEXT NOT NULL,
    time INTEGER NOT NULL,
    turn INTEGER,
    step INTEGER,
    terms INTEGER NOT NULL
  );
  CREATE INDEX documents_of ON documents (session, agent, record);
  CREATE TABLE texts (number INTEGER PRIMARY KEY, text TEXT NOT NULL);
  CREATE VIRTUAL TABLE words
    USING fts5(once, few, many, content='', contentless_delete=1, detail=column, tokenize='ascii');
  CREATE VIRTUAL TABLE trigrams
    USING fts5(text, content='', contentless_delete=1, detail=none, tokenize='trigram case_sensitive 1');
  CREATE TRIGGER document_added AFTER INSERT ON documents BEGIN
    UPDATE facts SET value = value + 1 WHERE name = 'documents';
    UPDATE sessions SET documents = documents + 1 WHERE number = new.session;
  END;
  CREATE TRIGGER document_removed AFTER DELETE ON documents BEGIN
    UPDATE facts SET value = value - 1 WHERE name = 'documents';
    UPDATE sessions SET documents = documents - 1 WHERE number = old.session;
  END;
`,
};

/** Columns of `words` with the weight of a term that they have: for one occurrence, two or three, four and more. */
export const FREQUENCY_COLUMNS = [
  { column: 'once', weight: 1 },
  { column: 'few', weight: 2 },
  { column: 'many', weight: 5 },
] as const;

/** A term or trigram as an FTS string, which has no syntax inside its quotes. */
export const quoted = (term: string): string => `"${term.replaceAll('"', '""')}"`;
