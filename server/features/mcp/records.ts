/** Journal records of a server's tool list, and errors for the tools that are omitted from it. */
import { BlobText } from '#server/journal/texts.ts';
import { event, internal, type Draft } from '#server/journal/records.ts';
import type { Discovery } from '#server/mcp/discovery.ts';
import { MAIN_AGENT } from '#schema/agents.ts';

/** Maximum number of reported tools; a server may list thousands of invalid ones. */
const MAX_TOLD = 20;

/** Creates the records. `taken` are names that an earlier server has; the list itself is stored in a blob. */
export function discoveryRecords(
  serverName: string,
  { hash, tools, dropped, collisions: own }: Discovery,
  taken: readonly string[],
  { blob, bytes }: { blob: string; bytes: number },
): Draft[] {
  const collisions = [...own, ...taken];
  const enabledNames = tools.map(({ name }) => name).filter((name) => !taken.includes(name));
  const text = new BlobText(blob, bytes);
  const record = { serverName, hash, text, enabledNames, ...(collisions.length > 0 ? { collisions } : {}) };
  return [
    internal(MAIN_AGENT, 'mcp.tools', record),
    ...(collisions.length > 0 ? [collided(serverName, collisions)] : []),
    ...dropped.slice(0, MAX_TOLD).map(({ tool, problem }) =>
      event(MAIN_AGENT, 'error', {
        code: 'mcp.tool_schema_invalid',
        message: `The tool "${tool}" of the MCP server "${serverName}" is left out, for its schema cannot be used: ${problem}.`,
        details: { serverName, tool },
        retryable: false,
      }),
    ),
  ];
}

const collided = (serverName: string, collisions: string[]) =>
  event(MAIN_AGENT, 'error', {
    code: 'mcp.tool_name_collision',
    message: `Tools of the MCP server "${serverName}" are left out, for others have their names: ${collisions.slice(0, MAX_TOLD).join(', ')}.`,
    details: { serverName, collisions },
    retryable: false,
  });
