/** One session as the index has it (records.md §3.6), and its form in SQLite. */
import { z } from 'zod';
import type { TitleKind } from '#server/journal/records.ts';
import { turnOutcome, type TurnOutcome } from '#schema/scalars.ts';
import type { AgentConfig } from '#server/storage/index-db.ts';

export interface SessionRow {
  id: string;
  workspaceId: string;
  /** Absolute. */
  cwd: string;
  /** Empty when there is none. */
  title: string;
  titleKind?: TitleKind | undefined;
  lastPrompt?: string | undefined;
  lastTurnReason?: TurnOutcome | undefined;
  /** Milliseconds since the epoch, as all times here. */
  createdAt: number;
  updatedAt: number;
  archived: boolean;
  archivedAt?: number | undefined;
  /** Custom metadata; `parent_session_id` and `child_session_kind` in it make the session a child (core.md §6.6). */
  custom: Record<string, unknown>;
  /** A turn, a task or a compaction is open: what a crash leaves behind. */
  open: boolean;
  forkedFrom?: string | undefined;
}

export const ROW_COLUMNS = `id, workspace_id, cwd, title, title_kind, last_prompt, last_turn_reason, created_at, updated_at,
  archived, archived_at, custom, open, forked_from`;

/** Plain members only: a page of 50 rows goes through it on every list request. */
const storedRows = z.array(
  z.object({
    id: z.string(),
    workspace_id: z.string(),
    cwd: z.string(),
    title: z.string(),
    title_kind: z.enum(['replaceable', 'generated', 'custom']).nullable(),
    last_prompt: z.string().nullable(),
    last_turn_reason: turnOutcome.nullable(),
    created_at: z.number(),
    updated_at: z.number(),
    archived: z.number(),
    archived_at: z.number().nullable(),
    custom: z.string(),
    open: z.number(),
    forked_from: z.string().nullable(),
  }),
);

const customSchema = z.record(z.string(), z.unknown());

/** The rows of a statement that selects `ROW_COLUMNS`. */
export function parseRows(found: unknown[]): SessionRow[] {
  return storedRows.parse(found).map((row) => ({
    id: row.id,
    workspaceId: row.workspace_id,
    cwd: row.cwd,
    title: row.title,
    titleKind: row.title_kind ?? undefined,
    lastPrompt: row.last_prompt ?? undefined,
    lastTurnReason: row.last_turn_reason ?? undefined,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    archived: row.archived !== 0,
    archivedAt: row.archived_at ?? undefined,
    custom: customSchema.parse(JSON.parse(row.custom)),
    open: row.open !== 0,
    forkedFrom: row.forked_from ?? undefined,
  }));
}

const text = (value: unknown) => (typeof value === 'string' ? value : null);

/** The parameters of a row's statement, named as its columns. */
export function rowBinding(row: SessionRow): AgentConfig {
  return {
    id: row.id,
    workspace_id: row.workspaceId,
    cwd: row.cwd,
    title: row.title,
    title_kind: row.titleKind ?? null,
    last_prompt: row.lastPrompt ?? null,
    last_turn_reason: row.lastTurnReason ?? null,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
    archived: Number(row.archived),
    archived_at: row.archivedAt ?? null,
    custom: JSON.stringify(row.custom),
    open: Number(row.open),
    parent_session_id: text(row.custom.parent_session_id),
    child_session_kind: text(row.custom.child_session_kind),
    forked_from: row.forkedFrom ?? null,
  };
}
