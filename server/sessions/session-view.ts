/** The Session object of every reply and event (core.md §5.1). */
import { iso } from '#schema/scalars.ts';
import { zeroUsage, type Session } from '#schema/session.ts';
import type { SessionRow } from './session-row.ts';
import type { WorkFacts } from '#server/journal/projections/activity.ts';

/** Reserved custom keys: never shown, never stored from a request. */
const RESERVED = ['cwd', 'goal'];

/** Custom metadata without the keys that a request may not set. */
export function customMetadata(metadata: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !RESERVED.includes(key)));
}

/** `live` are the facts of a loaded session; a cold one is idle and reports its persisted outcome (core.md §5.2). */
export function sessionView(row: SessionRow, live: WorkFacts | undefined): Session {
  const outcome = live ? live.last_turn_reason : row.lastTurnReason;
  return {
    id: row.id,
    workspace_id: row.workspaceId,
    title: row.title,
    created_at: iso(row.createdAt),
    updated_at: iso(row.updatedAt),
    archived: row.archived,
    ...(row.archived && row.archivedAt !== undefined ? { archived_at: iso(row.archivedAt) } : {}),
    busy: live?.busy ?? false,
    main_turn_active: live?.main_turn_active ?? false,
    pending_interaction: live?.pending_interaction ?? 'none',
    ...(outcome ? { last_turn_reason: outcome } : {}),
    ...(row.lastPrompt ? { last_prompt: row.lastPrompt } : {}),
    metadata: { ...customMetadata(row.custom), cwd: row.cwd },
    agent_config: { model: '' },
    usage: zeroUsage,
    permission_rules: [],
    message_count: 0,
    last_seq: 0,
  };
}
