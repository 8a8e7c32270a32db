/** One session as the index has it (records.md §3.6), and its form in SQLite. */
import { z } from 'zod';
import type { TitleKind } from '../journal/records.ts';
import { turnOutcome, type TurnOutcome } from '../schema/scalars.ts';
import type { Binding } from '../storage/index-db.ts';

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

const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullable().transform((value) => value ?? undefined);
const flag = z.number().transform((value) => value !== 0);

export const storedRow = z
  .object({
    id: z.string(),
    workspace_id: z.string(),
    cwd: z.string(),
    title: z.string(),
    title_kind: optional(z.enum(['replaceable', 'generated', 'custom'])),
    last_prompt: optional(z.string()),
    last_turn_reason: optional(turnOutcome),
    created_at: z.number(),
    updated_at: z.number(),
    archived: flag,
    archived_at: optional(z.number()),
    custom: z.string().transform((text) => z.record(z.string(), z.unknown()).parse(JSON.parse(text))),
    open: flag,
    forked_from: optional(z.string()),
  })
  .transform((row): SessionRow => ({
    id: row.id,
    workspaceId: row.workspace_id,
    cwd: row.cwd,
    title: row.title,
    titleKind: row.title_kind,
    lastPrompt: row.last_prompt,
    lastTurnReason: row.last_turn_reason,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    archived: row.archived,
    archivedAt: row.archived_at,
    custom: row.custom,
    open: row.open,
    forkedFrom: row.forked_from,
  }));

const text = (value: unknown) => (typeof value === 'string' ? value : null);

/** The parameters of a row's statement, named as its columns. */
export function rowBinding(row: SessionRow): Binding {
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
