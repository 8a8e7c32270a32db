/** A program without MCP servers. */
import type { Mcp } from '#server/mcp/mcp.ts';

export const noMcp: Pick<Mcp, 'hold'> = {
  hold: () => {
    throw new Error('this program has no MCP servers');
  },
};
