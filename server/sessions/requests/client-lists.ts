/** The lists that clients bring with a session: MCP servers and additional directories, held while it is loaded. */
import { isAbsolute } from 'node:path';
import { invalidField } from '#server/errors/service-error.ts';
import { checkDirectory, normalRoot } from '#server/workspaces/workspace-root.ts';
import type { ClientLists } from '#schema/rest/session.ts';
import type { LiveSession } from '../live/session.ts';

/**
 * Throws `validation.failed` for a name that is used twice and a relative directory, `fs.path_not_found` for a directory
 * that is missing, `fs.permission_denied` for one that the server may not read.
 */
export async function checkClientLists({ mcp_servers: servers = [], additional_dirs: dirs = [] }: ClientLists) {
  const names = new Set<string>();
  for (const [index, { name }] of servers.entries()) {
    if (names.has(name)) throw invalidField(`mcp_servers.${index}.name`, `the name ${name} is used twice`);
    names.add(name);
  }
  for (const [index, dir] of dirs.entries()) {
    const field = `additional_dirs.${index}`;
    if (!isAbsolute(dir)) throw invalidField(field, `${field} must be an absolute path`);
    await checkDirectory(dir, 'path');
  }
}

/** Replaces the lists that are present, which were checked. */
export function replaceClientLists({ context }: LiveSession, { mcp_servers, additional_dirs }: ClientLists): void {
  if (additional_dirs) context.setClientDirs([...new Set(additional_dirs.map(normalRoot))]);
  if (!mcp_servers) return;
  for (const feature of context.features) feature.onClientServers?.(mcp_servers);
}

export const hasClientLists = ({ mcp_servers, additional_dirs }: ClientLists): boolean =>
  mcp_servers !== undefined || additional_dirs !== undefined;
