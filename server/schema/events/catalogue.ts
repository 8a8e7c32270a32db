/**
 * Every event the server sends, with the schema of its payload (without `type`, `time`, `agentId`, `sessionId`).
 * AsyncAPI, the journal's record types and the tests read this table; a new event is one line in its family's file.
 */
import type { z } from 'zod';
import { compactionEvents } from './compaction.ts';
import { cronEvents } from './cron.ts';
import { globalEvents } from './global.ts';
import { mcpEvents } from './mcp.ts';
import { modeEvents } from './modes.ts';
import { sessionEvents } from './session.ts';
import { subagentEvents } from './subagents.ts';
import { taskEvents } from './tasks.ts';
import { toolEvents } from './tools.ts';
import { turnEvents } from './turns.ts';
import { volatileEvents } from './volatile.ts';

/** Durable events of a session: each is a journal record type. */
export const durableEvents = {
  ...sessionEvents,
  ...turnEvents,
  ...toolEvents,
  ...subagentEvents,
  ...taskEvents,
  ...compactionEvents,
  ...modeEvents,
  ...mcpEvents,
  ...cronEvents,
};

export { globalEvents, volatileEvents };

export type DurableType = keyof typeof durableEvents;
export type DurableFields<T extends DurableType> = z.infer<(typeof durableEvents)[T]>;
export type VolatileType = keyof typeof volatileEvents;
export type VolatileFields<T extends VolatileType> = z.infer<(typeof volatileEvents)[T]>;
export type GlobalType = keyof typeof globalEvents;
export type GlobalFields<T extends GlobalType> = z.infer<(typeof globalEvents)[T]>;
