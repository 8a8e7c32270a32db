/** The directory of a workspace, for file actions that need no session. */
import type { App } from '#server/app/app.ts';
import type { SessionDirectory } from '#server/sessions/sessions.ts';

/** Of a workspace that is named by an id, an alias or an absolute path. Throws 40410. */
export async function workspaceDirectory(reference: string, app: App): Promise<SessionDirectory> {
  const { id, root } = await app.workspaces.refer(reference);
  return { workspaceId: id, root, additionalDirs: () => [] };
}
