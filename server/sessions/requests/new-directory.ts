/** Determines the directory of a new session. */
import { stat } from 'node:fs/promises';
import { invalidField, ServiceError } from '#server/errors/service-error.ts';
import { directoryFault } from '#server/files/file-kind.ts';
import type { Workspaces } from '#server/workspaces/workspaces.ts';

export interface WantedDirectory {
  workspace_id?: string | undefined;
  metadata?: { cwd?: string | undefined } | undefined;
}

/**
 * The directory that the request names: by a workspace that exists, by its path, or by both when they agree. Throws
 * `validation.failed`, `workspace.not_found` and `fs.path_not_found`.
 */
export async function newSessionDirectory(request: WantedDirectory, workspaces: Workspaces): Promise<string> {
  const cwd = await namedDirectory(request, workspaces);
  const fault = await directoryFault(cwd, stat);
  if (fault === 'not a directory')
    throw new ServiceError('fs.path_not_found', `workspace root ${cwd} is not a directory`);
  // A directory that the server may not access is reported as missing.
  if (fault) throw new ServiceError('fs.path_not_found', `workspace root ${cwd} does not exist`);
  return cwd;
}

async function namedDirectory({ workspace_id, metadata }: WantedDirectory, workspaces: Workspaces): Promise<string> {
  const cwd = metadata?.cwd;
  if (workspace_id === undefined) {
    if (cwd !== undefined) return cwd;
    throw invalidField('metadata.cwd', 'either workspace_id or metadata.cwd is required');
  }
  const { root } = await workspaces.get(workspace_id);
  const bare = (path: string) => (path.length > 1 ? path.replace(/\/$/, '') : path);
  if (cwd !== undefined && bare(cwd) !== bare(root)) {
    throw invalidField('metadata.cwd', `metadata.cwd (${cwd}) must equal workspace root (${root})`);
  }
  return root;
}
