/** Durable events of a session; each is also a journal record type. */
import { compactionEvents } from './compaction.ts';
import { cronEvents } from './cron.ts';
import { mcpEvents } from './mcp.ts';
import { modeEvents } from './modes.ts';
import { sessionEvents } from './session.ts';
import { subagentEvents } from './subagents.ts';
import { taskEvents } from './tasks.ts';
import { toolEvents } from './tools.ts';
import { turnEvents } from './turns.ts';

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
