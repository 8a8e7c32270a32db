/** The tools of a server, in the form that agents use. */
import { isRecord } from '#server/text/json.ts';
import { ToolInputError, type RunContext, type Tool, type ToolResult } from '#server/tools/tool.ts';
import type { Discovery, UsableTool } from './discovery.ts';
import type { Schemas } from './schemas.ts';
import { AUTHENTICATE, qualifiedName } from './tool-names.ts';

export type CallTool = (tool: UsableTool, args: Record<string, unknown>, context: RunContext) => Promise<ToolResult>;

/** The effects of a foreign tool are unknown, so it is treated as accessing everything. */
const anything = { accesses: [{ kind: 'all' as const }], subject: { match: 'literal' as const } };

/** In the order of the server. Arguments are checked asynchronously, when a call is prepared. */
export const toolsOf = ({ tools }: Discovery, schemas: Schemas, call: CallTool): Tool[] =>
  tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    parameters: tool.schema.parameters,
    deferred: true,
    effects: 'any',
    check(args) {
      if (!isRecord(args)) return { problem: 'the arguments are no object' };
      return {
        args,
        async prepare() {
          const problem = await schemas.problemOf(tool.schema, args);
          if (problem !== undefined) throw new ToolInputError(`Invalid arguments: ${problem}`);
          return { ...anything, run: (context) => call(tool, args, context) };
        },
      };
    },
  }));

/** The tool that replaces those of a server that requires a sign-in. */
export function signInTool(server: string, signIn: (context: RunContext) => Promise<ToolResult>): Tool {
  return {
    name: qualifiedName(server, AUTHENTICATE),
    description: `The MCP server "${server}" needs the user to sign in before its tools can be used. Call this to start the sign-in: the user is shown an address to open, and the call ends when they are done. The tools of the server are there afterwards.`,
    parameters: { type: 'object', properties: {}, additionalProperties: false },
    deferred: true,
    effects: 'any',
    check: (args) => ({ args: isRecord(args) ? args : {}, prepare: () => ({ ...anything, run: signIn }) }),
  };
}
