/**
 * A session's header: its members without its history, in four forms: in memory, as a row of the index, as `state.json`
 * and as the Session object of replies and events. A new member is added here, in the projection that derives it from
 * the journal (`index-row.ts`), and in the schema if clients receive it.
 */
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { isSettled } from '#server/journal/crash-recovery.ts';
import type { LogState } from '#server/journal/fold.ts';
import { isBusy, mainTurnActive } from '#server/journal/projections/activity.ts';
import { wakingFeatures } from '#server/journal/projections/feature-projection.ts';
import { iso, turnOutcome } from '#schema/scalars.ts';
import type { Session, SessionUsage } from '#schema/rest/session.ts';
import type { SqlParameters, IndexSchema } from '#server/storage/derived-db.ts';
import { COUNTS_SQL, FAILED, PROMPTED } from './counts-table.ts';

/** Milliseconds since the epoch. */
const time = z.number();

const headerSchema = z.object({
  id: z.string(),
  workspaceId: z.string(),
  /** Absolute. */
  cwd: z.string(),
  /** Empty if the session has no title. */
  title: z.string(),
  titleKind: z.enum(['replaceable', 'generated', 'custom']).optional(),
  lastPrompt: z.string().optional(),
  lastTurnReason: turnOutcome.optional(),
  createdAt: time,
  updatedAt: time,
  archived: z.boolean(),
  archivedAt: time.optional(),
  /** Custom metadata; `parent_session_id` and `child_session_kind` in it make the session a child. */
  custom: z.record(z.string(), z.unknown()),
  /** A turn, a task or a compaction is open, or was published as open; remains true after a crash. */
  open: z.boolean(),
  /**
   * Nothing is open in the journal, and no outcome is still to be published: the session can be copied without a fold.
   */
  settled: z.boolean(),
  /** Names of the features for which the session is loaded after a start, such as for scheduled jobs. */
  wakes: z.array(z.string()),
  forkedFrom: z.string().optional(),
});
export type SessionHeader = z.infer<typeof headerSchema>;

/** Header members that no journal has; they change without the session's lock. */
export type ColdFields = Pick<SessionHeader, 'archived' | 'archivedAt' | 'custom'>;

/** A header as stored in the index and in `state.json`. */
export interface StoredHeader {
  header: SessionHeader;
  /** Increases with each change of the row; `state.json` is written from the row and contains it. */
  revision: number;
  /** Bytes of the journal that the header was derived from. */
  journalLength: number;
}

/** Derives the header from a journal's fold; members that no journal has are those of `stored`. */
export function foldedHeader(
  state: LogState,
  { id, workspaceId }: Pick<SessionHeader, 'id' | 'workspaceId'>,
  stored?: ColdFields & Pick<SessionHeader, 'updatedAt'>,
): SessionHeader {
  const { index, activity, features } = state;
  return {
    ...index,
    id,
    workspaceId,
    lastTurnReason: activity.outcome,
    open: isBusy(activity) || activity.lastPublished?.busy === true,
    settled: isSettled(state),
    wakes: wakingFeatures(features),
    archived: stored?.archived ?? false,
    archivedAt: stored?.archivedAt,
    custom: stored?.custom ?? index.custom,
    updatedAt: Math.max(index.updatedAt, stored?.updatedAt ?? 0),
  };
}

export const newSessionId = (): string => `session_${randomUUID()}`;

/**
 * Returns the header of a copy, derived from the fold of the copied records, under the copy's id and time. Without a
 * state, it is derived from the source's row.
 */
export function copiedHeader(
  state: LogState | undefined,
  source: SessionHeader,
  own: Pick<SessionHeader, 'id' | 'createdAt'>,
): SessionHeader {
  const { title, titleKind, lastPrompt, ...folded } = state ? foldedHeader(state, source, source) : source;
  return {
    ...source,
    title: title || source.title,
    titleKind,
    lastPrompt: lastPrompt ?? source.lastPrompt,
    // A turn that is open in the source is cancelled in the copy.
    lastTurnReason: state && mainTurnActive(state.activity) ? 'cancelled' : folded.lastTurnReason,
    updatedAt: folded.updatedAt,
    archived: false,
    archivedAt: undefined,
    open: false,
    forkedFrom: source.id,
    ...own,
  };
}

// --- Row of the index

/** Column types by member. */
const columns: Record<keyof SessionHeader, string> = {
  id: 'TEXT PRIMARY KEY',
  workspaceId: 'TEXT NOT NULL',
  cwd: 'TEXT NOT NULL',
  title: 'TEXT NOT NULL',
  titleKind: 'TEXT',
  lastPrompt: 'TEXT',
  lastTurnReason: 'TEXT',
  createdAt: 'INTEGER NOT NULL',
  updatedAt: 'INTEGER NOT NULL',
  archived: 'INTEGER NOT NULL',
  archivedAt: 'INTEGER',
  custom: 'TEXT NOT NULL',
  open: 'INTEGER NOT NULL',
  settled: 'INTEGER NOT NULL',
  wakes: 'TEXT NOT NULL',
  forkedFrom: 'TEXT',
};

const columnOf = (member: string) => member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const columnNames: ReadonlyMap<string, string> = new Map(
  Object.keys(columns).map((member) => [member, columnOf(member)]),
);

/** Columns of a header, in the order of its members; parameters have their names. */
export const headerColumns: readonly string[] = [...columnNames.values()];
/** Columns of `ColdFields`. */
export const coldColumns: readonly string[] = ['archived', 'archived_at', 'custom'];
/** The column list of a SELECT whose rows have a header's members. */
export const HEADER_MEMBERS = Object.keys(columns)
  .map((member) => `${columnOf(member)} AS ${member}`)
  .join(', ');

/** Selects the rows of a workspace id by an index, whose first column is `archived`. */
export const IN_WORKSPACE = 'archived IN (0, 1) AND workspace_id = @workspace';
/** Expressions over a row; SQLite uses an index on an expression only if the query spells it identically. */
export const PARENT_OF = `json_extract(custom, '$.parent_session_id')`;
export const WAKES = "wakes <> '[]'";
export const IS_CHILD = `json_extract(custom, '$.child_session_kind') = 'child'`;

/**
 * Ids are compared as bytes (BINARY), and a page in list order is read from an index without sorting more than the rows
 * of equal times. There are few indexes, because each turn writes the row twice. They contain the columns that lists
 * filter by, so that filtering and counting read no rows of the table.
 */
export const indexSchema: IndexSchema = {
  /** Increases with each change of the tables. */
  version: 8,
  sql: `
  CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE sessions (
    ${Object.entries(columns)
      .map(([member, type]) => `${columnOf(member)} ${type}`)
      .join(', ')},
    revision INTEGER NOT NULL,
    journal_length INTEGER NOT NULL,
    state_mtime REAL,
    state_size INTEGER
  );
  CREATE INDEX sessions_listed ON sessions
    (archived, updated_at, id, ${PROMPTED}, ${FAILED}, workspace_id, created_at);
  CREATE INDEX sessions_grouped ON sessions
    (archived, workspace_id, updated_at, id, ${PROMPTED}, ${FAILED}, created_at);
  CREATE INDEX sessions_created ON sessions (archived, created_at, id, ${PROMPTED}, ${FAILED}, workspace_id);
  CREATE INDEX sessions_children ON sessions (${PARENT_OF}, updated_at, id) WHERE ${IS_CHILD};
  CREATE INDEX sessions_open ON sessions (id) WHERE open = 1;
  CREATE INDEX sessions_waking ON sessions (updated_at, id) WHERE ${WAKES} AND archived = 0;
  ${COUNTS_SQL}
`,
};

const flag = z.literal([0, 1]).transform(Boolean);

/** The value in a column of JSON text. */
const json = <Value>(schema: z.ZodType<Value>) =>
  z.string().transform((text, context) => {
    const value = schema.safeParse(JSON.parse(text));
    if (value.success) return value.data;
    context.addIssue({ code: 'custom', message: `not ${schema.type}` });
    return z.NEVER;
  });

/** Plain members only, for speed: each list request parses a page of 50 rows. */
const rowSchema = headerSchema.extend({
  archived: flag,
  open: flag,
  settled: flag,
  wakes: json(headerSchema.shape.wakes),
  custom: json(headerSchema.shape.custom),
});

/** The header of a row that was selected by `HEADER_MEMBERS`. */
export function headerOfRow(row: unknown): SessionHeader {
  const present =
    typeof row === 'object' && row !== null ? Object.entries(row).filter(([, value]) => value !== null) : [];
  return rowSchema.parse(Object.fromEntries(present));
}

/** SQL parameters for the given members, named like their columns. */
export function parametersOf(members: Partial<SessionHeader>): SqlParameters {
  const parameters: SqlParameters = {};
  for (const [member, value] of Object.entries(members)) {
    const column = columnNames.get(member);
    if (column !== undefined) parameters[column] = columnValue(value);
  }
  return parameters;
}

const noValues: SqlParameters = Object.fromEntries(headerColumns.map((name) => [name, null]));

/** The parameters of a whole header. */
export const rowOfHeader = (header: SessionHeader): SqlParameters => ({ ...noValues, ...parametersOf(header) });

function columnValue(value: SessionHeader[keyof SessionHeader] | undefined): string | number | null {
  if (value === undefined) return null;
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'object' ? JSON.stringify(value) : value;
}

// --- state.json

const STATE_VERSION = 2;

/**
 * `open` and `settled` are not stored in the file. `title` and `custom` may be missing; files of older versions lack
 * revision and length.
 */
const stateSchema = headerSchema.omit({ workspaceId: true, open: true, settled: true }).extend({
  version: z.number().int(),
  title: z.string().default(''),
  custom: headerSchema.shape.custom.default({}),
  wakes: headerSchema.shape.wakes.optional(),
  /** Earlier versions write this instead of `wakes`. */
  cron: z.boolean().optional(),
  revision: z.number().int().default(0),
  journalLength: z.number().int().default(0),
});

/** The text of `state.json`. */
export function stateText({ header, revision, journalLength }: StoredHeader): string {
  const { id, ...rest } = header;
  const state = stateSchema.parse({ id, version: STATE_VERSION, ...rest, revision, journalLength });
  return `${JSON.stringify(state, null, 2)}\n`;
}

/** Parses the text of a `state.json` of a workspace. Throws if it is damaged. */
export function parseState(text: string, workspaceId: string): StoredHeader {
  const state = stateSchema.parse(JSON.parse(text));
  const { version: _version, cron, wakes = cron ? ['cron'] : [], revision, journalLength, ...rest } = state;
  return { header: { ...rest, wakes, workspaceId, open: false, settled: false }, revision, journalLength };
}

// --- Session object

/** Reserved custom keys: never included in replies, never stored from a request. */
const RESERVED = ['cwd', 'goal'];

/** Custom metadata without the keys that a request may not set. */
export function customMetadata(metadata: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !RESERVED.includes(key)));
}

/** `child_session_kind` of a session's children. */
export const CHILD_KIND = 'child';

/** Returns custom metadata without the members that make the session a child. */
export function withoutParent(metadata: Record<string, unknown>): Record<string, unknown> {
  const { parent_session_id: _parent, child_session_kind: _kind, ...rest } = metadata;
  return rest;
}

/** Members of the Session object that depend on its running operations. */
export type Activity = Pick<Session, 'busy' | 'main_turn_active' | 'pending_interaction'> & {
  last_turn_reason?: Session['last_turn_reason'] | undefined;
};

/** The usage in Session objects outside of snapshots: zeros. */
export const zeroUsage: SessionUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_tokens: 0,
  cache_creation_tokens: 0,
  total_cost_usd: 0,
  context_tokens: 0,
  context_limit: 0,
  turn_count: 0,
};

/**
 * Builds the Session object. `live` is the activity of a loaded session; a cold one is idle and has its persisted
 * outcome.
 */
export function sessionOfHeader(header: SessionHeader, live: Activity | undefined): Session {
  const outcome = live ? live.last_turn_reason : header.lastTurnReason;
  return {
    id: header.id,
    workspace_id: header.workspaceId,
    title: header.title,
    created_at: iso(header.createdAt),
    updated_at: iso(header.updatedAt),
    archived: header.archived,
    ...(header.archived && header.archivedAt !== undefined ? { archived_at: iso(header.archivedAt) } : {}),
    busy: live?.busy ?? false,
    main_turn_active: live?.main_turn_active ?? false,
    pending_interaction: live?.pending_interaction ?? 'none',
    ...(outcome ? { last_turn_reason: outcome } : {}),
    ...(header.lastPrompt ? { last_prompt: header.lastPrompt } : {}),
    metadata: { ...customMetadata(header.custom), cwd: header.cwd },
    agent_config: { model: '' },
    usage: zeroUsage,
    permission_rules: [],
    message_count: 0,
    last_seq: 0,
  };
}
