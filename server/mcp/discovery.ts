/** The tools of a server's list that agents are offered. */
import { createHash } from 'node:crypto';
import type { McpServerConfig } from '#schema/config/mcp-server.ts';
import type { ListedTool } from './connect.ts';
import type { ArgumentSchema } from './plain-schemas.ts';
import { TOO_SLOW, type Schemas } from './schemas.ts';
import { qualifiedName } from './tool-names.ts';

/** A tool that may be offered. */
export interface UsableTool {
  /** The name that models use. */
  name: string;
  /** The name that the server uses. */
  rawName: string;
  description: string;
  schema: ArgumentSchema;
}

export interface Discovery {
  tools: readonly UsableTool[];
  /** Tools that no model could call, with the problem of their schemas. */
  dropped: readonly { tool: string; problem: string }[];
  /** Names that are already in use by an earlier tool of the server. */
  collisions: readonly string[];
  /** The whole list of the server, unmodified, as JSON. */
  text: string;
  /** Hash of the list and of the offered names. */
  hash: string;
}

/** After this number of schemas that take too long, the remaining ones of the server are not checked. */
const MAX_SLOW = 3;

/** Checks serially, so that the schemas of other servers are checked in between. */
async function checkedInTurn(listed: readonly ListedTool[], schemas: Schemas) {
  const checked: { tool: ListedTool; schema: ArgumentSchema | { problem: string } }[] = [];
  let slow = 0;
  for (const tool of listed) {
    const schema =
      slow < MAX_SLOW
        ? await schemas.check(tool.inputSchema)
        : { problem: 'other schemas of the server took too long' };
    if ('problem' in schema && schema.problem === TOO_SLOW) slow += 1;
    checked.push({ tool, schema });
  }
  return checked;
}

/** Filters, checks and names the tools, in the order of the server. */
export async function discover(
  server: string,
  listed: readonly ListedTool[],
  { enabledTools, disabledTools = [] }: McpServerConfig,
  schemas: Schemas,
): Promise<Discovery> {
  const wanted = listed.filter(({ name }) => (enabledTools?.includes(name) ?? true) && !disabledTools.includes(name));
  const checked = await checkedInTurn(wanted, schemas);
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
