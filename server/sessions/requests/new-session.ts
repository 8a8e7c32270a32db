/** A new session: where it will work, and its header. */
import { stat } from 'node:fs/promises';
import { invalidField, ServiceError } from '#server/errors/service-error.ts';
import { directoryFault } from '#server/files/file-kind.ts';
import type { Clock } from '#server/clock.ts';
import type { Workspaces } from '#server/workspaces/workspaces.ts';
import type { ClientLists } from '#schema/rest/session.ts';
import { customMetadata, newSessionId, type SessionHeader } from '../index/session-header.ts';

export interface CreateSession extends ClientLists {
  workspace_id?: string | undefined;
  metadata?: (Record<string, unknown> & { cwd?: string | undefined }) | undefined;
  title?: string | undefined;
}

export interface NewSessionDeps {
  workspaces: Pick<Workspaces, 'get' | 'register'>;
  clock: Pick<Clock, 'now'>;
}

/**
 * The header of the session that the request creates; registers its workspace. Throws `validation.failed`,
 * `workspace.not_found` and `fs.path_not_found`.
 */
export async function newSessionHeader(
  request: CreateSession,
  { workspaces, clock }: NewSessionDeps,
): Promise<SessionHeader> {
  const workspace = await workspaces.register(await directoryOf(request, workspaces));
  const created = clock.now();
  return {
    id: newSessionId(),
    workspaceId: workspace.id,
    cwd: workspace.root,
    title: request.title ?? '',
    titleKind: request.title === undefined ? 'replaceable' : 'custom',
    createdAt: created,
    updatedAt: created,
    archived: false,
    custom: customMetadata(request.metadata ?? {}),
    open: false,
    settled: true,
    wakes: [],
  };
}

/** The directory that the request names: by a workspace that exists, by its path, or by both when they agree. */
async function directoryOf(request: CreateSession, workspaces: Pick<Workspaces, 'get'>): Promise<string> {
  const cwd = await namedDirectory(request, workspaces);
  const fault = await directoryFault(cwd, stat);
  if (fault === 'not a directory')
    throw new ServiceError('fs.path_not_found', `workspace root ${cwd} is not a directory`);
  // What the server may not look at counts as missing here.
  if (fault) throw new ServiceError('fs.path_not_found', `workspace root ${cwd} does not exist`);
  return cwd;
}

async function namedDirectory(
  { workspace_id, metadata }: CreateSession,
  workspaces: Pick<Workspaces, 'get'>,
): Promise<string> {
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
