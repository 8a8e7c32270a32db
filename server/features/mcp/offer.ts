/** The tools of several servers together: names are one space. */
import type { McpServer } from '#server/mcp/server.ts';
import type { Tool } from '#server/tools/tool.ts';

export interface Offer {
  tools: readonly Tool[];
  /** Names of tools that an earlier server has, by server. */
  collisions: ReadonlyMap<string, readonly string[]>;
}

/** The first server that has a name keeps it. */
export function offeredTools(servers: readonly McpServer[]): Offer {
  const tools = new Map<string, Tool>();
  const collisions = new Map<string, string[]>();
  for (const server of servers) {
    const lost: string[] = [];
    for (const tool of server.tools) {
      if (tools.has(tool.name)) lost.push(tool.name);
      else tools.set(tool.name, tool);
    }
    if (lost.length > 0) collisions.set(server.name, lost);
  }
  return { tools: [...tools.values()], collisions };
}
