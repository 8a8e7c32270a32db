/** What of a server's list of tools its agents are offered. */
import { createHash } from 'node:crypto';
import type { McpServerConfig } from '#schema/mcp-server.ts';
import type { ListedTool } from './connect.ts';
import type { ArgumentSchema, Schemas } from './schemas.ts';
import { qualifiedName } from './tool-names.ts';

/** A tool that may be offered. */
export interface UsableTool {
  /** As models call it. */
  name: string;
  /** As the server calls it. */
  rawName: string;
  description: string;
  schema: ArgumentSchema;
}

export interface Discovery {
  tools: readonly UsableTool[];
  /** Tools that no model could call, with what is wrong with their schemas. */
  dropped: readonly { tool: string; problem: string }[];
  /** Names that an earlier tool of the server has. */
  collisions: readonly string[];
  /** The whole list as the server gave it, as JSON. */
  text: string;
  /** Of the list, and of what is offered of it. */
  hash: string;
}

/** Filters, checks and names the tools, in the order of the server. */
export async function discover(
  server: string,
  listed: readonly ListedTool[],
  { enabledTools, disabledTools = [] }: McpServerConfig,
  schemas: Schemas,
): Promise<Discovery> {
  const wanted = listed.filter(({ name }) => (enabledTools?.includes(name) ?? true) && !disabledTools.includes(name));
  const checked = await Promise.all(
    wanted.map(async (tool) => ({ tool, schema: await schemas.check(tool.inputSchema) })),
  );
  const tools = new Map<string, UsableTool>();
  const dropped: { tool: string; problem: string }[] = [];
  const collisions: string[] = [];
  for (const { tool, schema } of checked) {
    const name = qualifiedName(server, tool.name);
    if ('problem' in schema) dropped.push({ tool: tool.name, problem: schema.problem });
    else if (tools.has(name)) collisions.push(name);
    else tools.set(name, { name, rawName: tool.name, description: tool.description, schema });
  }
  const text = JSON.stringify(listed);
  const hash = createHash('sha256')
    .update(JSON.stringify([server, [...tools.keys()]]))
    .update(text)
    .digest('hex');
  return { tools: [...tools.values()], dropped, collisions, text, hash };
}
