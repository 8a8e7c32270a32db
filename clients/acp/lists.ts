/** The MCP servers and directories that an editor brings with a session, in the form of the API. */
import { isAbsolute } from 'node:path';
import type { McpServer } from '@agentclientprotocol/sdk';
import { invalid } from './errors.ts';

interface RemoteServer {
  name: string;
  transport: 'http' | 'sse';
  url: string;
  headers: Record<string, string>;
}

interface LocalServer {
  name: string;
  transport: 'stdio';
  command: string;
  args: string[];
  env: Record<string, string>;
  /** The machine on which it runs. */
  runtime_id: 'local';
}

/** Members of the requests that create or change a session; each replaces the session's whole list. */
export interface SessionLists {
  mcp_servers: (RemoteServer | LocalServer)[];
  additional_dirs: string[];
}

export const noLists: SessionLists = { mcp_servers: [], additional_dirs: [] };

interface EditorLists {
  mcpServers?: McpServer[] | undefined;
  additionalDirectories?: string[] | undefined;
}

/** Converts the lists of a request; throws for a name that is used twice and for a relative directory. */
export function listsOf({ mcpServers = [], additionalDirectories = [] }: EditorLists): SessionLists {
  const names = new Set<string>();
  for (const [index, { name }] of mcpServers.entries()) {
    if (names.has(name)) throw invalid(`mcpServers.${index}.name`, `the name ${name} is used twice`);
    names.add(name);
  }
  for (const [index, path] of additionalDirectories.entries()) {
    if (!isAbsolute(path)) throw invalid(`additionalDirectories.${index}`, 'must be an absolute path');
  }
  return { mcp_servers: mcpServers.map(serverOf), additional_dirs: [...additionalDirectories] };
}

function serverOf(server: McpServer): RemoteServer | LocalServer {
  const { name } = server;
  if ('type' in server) return { name, transport: server.type, url: server.url, headers: mapOf(server.headers) };
  const { command, args, env } = server;
  return { name, transport: 'stdio', command, args: [...args], env: mapOf(env), runtime_id: 'local' };
}

const mapOf = (entries: readonly { name: string; value: string }[]): Record<string, string> =>
  Object.fromEntries(entries.map(({ name, value }) => [name, value]));
