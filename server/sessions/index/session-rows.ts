/** The statements that read and write headers in SQLite. */
import * as z from 'zod';
import type { Connection, SqlParameters } from '#server/storage/derived-db.ts';
import {
  coldColumns,
  headerColumns,
  headerOfRow,
  HEADER_MEMBERS,
  parametersOf,
  rowOfHeader,
  type ColdFields,
  type SessionHeader,
  type StoredHeader,
} from './session-header.ts';
import type { FileStamp } from './state-file.ts';

export interface SessionRows {
  stored(db: Connection, id: string): StoredHeader | undefined;
  headers(db: Connection, tail: string, given?: SqlParameters): SessionHeader[];
  /** Stores the members derived from the journal and preserves the others; a new row gets the whole header. */
  upsert(db: Connection, header: SessionHeader, journalLength: number): void;
  /** Stores the members that no journal has; to be called in one transaction with the read of the previous ones. */
  patch(db: Connection, id: string, facts: ColdFields & Pick<SessionHeader, 'updatedAt'>): void;
  /** Stores the row as read from its folder, if the row's revision is still `seen` (0: if it is still missing). */
  repair(db: Connection, stored: StoredHeader, stamp: FileStamp | undefined, seen: number): void;
  /** Records the stamp of the `state.json` that was written from the row's revision. */
  mirrored(db: Connection, id: string, revision: number, stamp: FileStamp): void;
}

const assign = (columns: readonly string[]) => columns.map((name) => `${name} = excluded.${name}`).join(', ');
const named = (columns: readonly string[]) => columns.map((name) => `@${name}`).join(', ');

/** Columns that never change. */
const FIXED = ['id', 'workspace_id', 'created_at'];
const own = headerColumns.filter((name) => !FIXED.includes(name));
const derivedColumns = own.filter((name) => !coldColumns.includes(name) && name !== 'updated_at');

const INSERT = `INSERT INTO sessions (${headerColumns.join(', ')}, revision, journal_length, state_mtime, state_size)
  VALUES (${named(headerColumns)}, @revision, @journal_length, @state_mtime, @state_size)
  ON CONFLICT (id) DO UPDATE SET`;

const UPSERT = `${INSERT} ${assign([...derivedColumns, 'journal_length'])}, revision = sessions.revision + 1,
  updated_at = max(sessions.updated_at, excluded.updated_at)`;

const REPAIR = `${INSERT} ${assign([...own, 'revision', 'journal_length', 'state_mtime', 'state_size'])}
  WHERE sessions.revision = @seen`;

const PATCH = `UPDATE sessions SET ${coldColumns.map((name) => `${name} = @${name}`).join(', ')},
  updated_at = @updated_at, revision = revision + 1 WHERE id = @id`;

const MIRRORED = `UPDATE sessions SET state_mtime = @state_mtime, state_size = @state_size
  WHERE id = @id AND revision = @revision`;

const bookkeeping = z.looseObject({ revision: z.number(), journal_length: z.number() });

const stampColumns = (stamp: FileStamp | undefined) => ({
  state_mtime: stamp?.mtime ?? null,
  state_size: stamp?.size ?? null,
});

export const sessionRows: SessionRows = {
  stored(db, id) {
    const [row] = db.all(`SELECT ${HEADER_MEMBERS}, revision, journal_length FROM sessions WHERE id = @id`, { id });
    if (!row) return undefined;
    const { revision, journal_length: journalLength } = bookkeeping.parse(row);
    return { header: headerOfRow(row), revision, journalLength };
  },
  headers: (db, tail, given) => db.all(`SELECT ${HEADER_MEMBERS} FROM sessions ${tail}`, given).map(headerOfRow),
  upsert(db, header, journalLength) {
    const row = { ...rowOfHeader(header), revision: 1, journal_length: journalLength, ...stampColumns(undefined) };
    db.run(UPSERT, row);
  },
  patch(db, id, { archived, archivedAt, custom, updatedAt }) {
    db.run(PATCH, parametersOf({ id, archived, archivedAt, custom, updatedAt }));
  },
  repair(db, { header, revision, journalLength }, stamp, seen) {
    const row = { ...rowOfHeader(header), revision, journal_length: journalLength, ...stampColumns(stamp) };
    db.run(REPAIR, { ...row, seen });
  },
  mirrored: (db, id, revision, stamp) => void db.run(MIRRORED, { id, revision, ...stampColumns(stamp) }),
};
