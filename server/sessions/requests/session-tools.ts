/** The tools of a session's main agent, for clients. */
import { isMcpTool, serverOfTool } from '#server/mcp/tool-names.ts';
import type { ToolDescriptor } from '#schema/rest/tool.ts';
import type { LiveSession } from '../live/session.ts';

/** Describes them in the order of the agent's list. */
export function describeTools(session: LiveSession): ToolDescriptor[] {
  return session.agents.main.tools().map(({ tool: { name, description }, active }) => {
    const server = serverOfTool(name);
    return {
      name,
      description,
      input_schema: null,
      source: isMcpTool(name) ? 'mcp' : 'builtin',
      ...(server === undefined ? {} : { mcp_server_id: server }),
      active,
    };
  });
}
