/** A program without MCP servers. */
import type { Mcp } from '#server/mcp/mcp.ts';

const none: readonly never[] = [];

export const noMcp: Pick<Mcp, 'hold'> = {
  hold: () => ({
    workspace: {
      start: () => Promise.resolve(),
      loaded: true,
      list: () => Promise.resolve(none),
      registered: none,
      problems: () => none,
      restart: (name) => Promise.reject(new Error(`there is no MCP server ${name}`)),
      reconnect: () => undefined,
      onChange: () => () => undefined,
      close: () => Promise.resolve(),
    },
    release: () => Promise.resolve(),
  }),
};
