/** The directory of a workspace, for file actions that need no session. */
import type { App } from '#server/app/app.ts';
import type { SessionDirectory } from '#server/sessions/sessions.ts';

/** Returns the directory of a workspace, which is named by id, alias or absolute path. Throws `workspace.not_found`. */
export async function workspaceDirectory(reference: string, app: App): Promise<SessionDirectory> {
  const { id, root } = await app.workspaces.refer(reference);
  return { workspaceId: id, root, additionalDirs: () => [] };
}
