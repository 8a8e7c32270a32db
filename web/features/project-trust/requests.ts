/** REST calls about settings of a project that have no effect, and about its trust. */
import type { Rest } from '@service-code/client';
import { t } from '../../messages/messages.ts';

type Calls = Pick<Rest, 'request'>;

/** Project files that require trust in their directory. */
export interface UntrustedFiles {
  /** The directory to trust, absolute. */
  directory: string;
  /** One sentence for each file. */
  reasons: string[];
}

/** Files of a directory that name MCP servers. */
const MCP_FILES = ['.mcp.json', '.service-code/mcp.json'];

/** The MCP files of the session's directory while it is untrusted: the server reads them with the first prompt. */
async function untrustedMcpFiles(rest: Calls, sessionId: string, workspaceId: string): Promise<string[]> {
  const { entries } = await rest.request('POST /api/v1/sessions/{session_id}/fs:stat_many', {
    path: { session_id: sessionId },
    body: { paths: MCP_FILES },
  });
  const found = MCP_FILES.filter((path) => entries[path]);
  if (found.length === 0) return [];
  const path = { workspace_id: workspaceId };
  return (await rest.request('GET /api/v1/workspaces/{workspace_id}/trust', { path })).trusted ? [] : found;
}

/** Grouped by the warnings' directories; `cwd` is the session's directory. */
export async function untrustedFiles(
  rest: Calls,
  session: { id: string; workspaceId: string; cwd: string },
): Promise<UntrustedFiles[]> {
  const path = { session_id: session.id };
  const { warnings } = await rest.request('GET /api/v1/sessions/{session_id}/warnings', { path });
  const groups = new Map<string, string[]>();
  const add = (directory: string, reason: string) => groups.set(directory, [...(groups.get(directory) ?? []), reason]);
  for (const { directory, message } of warnings) if (directory !== undefined) add(directory, message);
  if (groups.size === 0) {
    for (const file of await untrustedMcpFiles(rest, session.id, session.workspaceId)) {
      add(session.cwd, t('trust.noEffect', { file }));
    }
  }
  return [...groups].map(([directory, reasons]) => ({ directory, reasons }));
}

/** Trusts a directory, which is registered as a workspace if necessary. */
export async function trustDirectory(rest: Calls, directory: string): Promise<void> {
  const { id } = await rest.request('POST /api/v1/workspaces', { body: { root: directory } });
  await rest.request('POST /api/v1/workspaces/{workspace_id}/trust', { path: { workspace_id: id } });
}
