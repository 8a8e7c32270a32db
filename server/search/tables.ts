/** The tables of `cache/search-v<n>.db`, which is derived from the journals and can be removed at any time. */
import type { IndexSchema } from '#server/storage/derived-db.ts';

/**
 * Texts are stored once, in a table of their own, so that the rows that a query filters stay small; `key` and `role` are
 * computed when they are read. The two FTS tables have no content, and store only which documents have a token: the
 * tokens of `words` are the terms that we make (`words.ts`) with a prefix for their number of occurrences, separated by
 * spaces; `trigrams` has the normalized text. There are no triggers: before a statement that may change several tables
 * FTS5 writes what it has collected, which would make each document of a transaction a segment.
 *
 * `length` is how many bytes of a session's journal are indexed, `fold` the state of the projection at that place;
 * `failed_length` is the length of a journal that could not be read, which is tried again when it changes.
 */
export const searchSchema: IndexSchema = {
  /** Increases with each change of the tables, of the terms or of what is a document. */
  version: 3,
  /** Texts of some hundred bytes leave a larger part of a page of the default size unused. */
  pageBytes: 8_192,
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
    agent TEXT NOT NULL,
    record INTEGER NOT NULL,
    part INTEGER NOT NULL,
    time INTEGER NOT NULL,
    turn INTEGER,
    step INTEGER,
    terms INTEGER NOT NULL,
    key TEXT AS (iif(agent = '', 'title', agent || '.' || record || '.' || part)),
    role TEXT AS (CASE WHEN agent = '' THEN 'title' WHEN step IS NULL THEN 'user' ELSE 'assistant' END)
  );
  CREATE INDEX documents_of ON documents (session);
  CREATE TABLE texts (number INTEGER PRIMARY KEY, text TEXT NOT NULL);
  CREATE VIRTUAL TABLE words
    USING fts5(terms, content='', contentless_delete=1, detail=none, tokenize="ascii tokenchars '.'");
  CREATE VIRTUAL TABLE trigrams
    USING fts5(text, content='', contentless_delete=1, detail=none, tokenize='trigram case_sensitive 1');
`,
};

/** The lowest number of documents that are indexed when they are recorded; those that a fill adds have lower ones. */
export const FIRST_FRESH = 2 ** 27;

/** A term or trigram as an FTS string, which has no syntax inside its quotes. */
export const quoted = (term: string): string => `"${term.replaceAll('"', '""')}"`;

/** Prefixes of the tokens of `words`, with the least occurrences of their terms, and the weight of such a term. */
export const FREQUENCIES = [
  { prefix: '4.', least: 4, weight: 5 },
  { prefix: '2.', least: 2, weight: 2 },
  { prefix: '', least: 1, weight: 1 },
] as const;

/** The FTS expression that matches documents with a term, which have exactly one of its tokens. */
export const withTerm = (term: string): string =>
  `(${FREQUENCIES.map(({ prefix }) => quoted(prefix + term)).join(' OR ')})`;
