/** An agent program without MCP servers. */
import type { Mcp } from '#server/mcp/mcp.ts';
import type { WorkspaceMcp } from '#server/mcp/workspace-mcp.ts';

const NO_PROBLEMS: readonly never[] = [];

const workspace: WorkspaceMcp = {
  start: () => Promise.resolve(),
  list: () => Promise.resolve([]),
  registered: [],
  problems: () => NO_PROBLEMS,
  ignored: () => NO_PROBLEMS,
  restart: (name) => Promise.reject(new Error(`there is no MCP server ${name}`)),
  reconnect: () => undefined,
  onChange: () => () => undefined,
  close: () => Promise.resolve(),
};

export const noMcp: Pick<Mcp, 'hold' | 'forSession'> = {
  hold: () => ({ workspace, release: () => Promise.resolve() }),
  forSession: () => ({ workspace, replace: () => Promise.resolve(), close: () => Promise.resolve() }),
};
