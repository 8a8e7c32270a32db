import { fileHitsSchema, searchFields } from '#schema/rest/file-search.ts';
import { ServiceError, sessionNotFound } from '#server/errors/service-error.ts';
import type { App } from '#server/app/app.ts';
import type { SessionDirectory } from '#server/sessions/sessions.ts';
import { defineFilesEndpoint, fileFields } from '#utils/files-endpoint.ts';
import { workspaceDirectory } from '#utils/workspace-directory.ts';

const isUnknown = (error: unknown, name: 'session.not_found' | 'workspace.not_found') =>
  error instanceof ServiceError && error.name === name;

/** A session's, or a workspace's where the place of the session names one. */
async function find(reference: string, app: App): Promise<SessionDirectory> {
  try {
    return await app.sessions.workDirectory(reference);
  } catch (error) {
    if (!isUnknown(error, 'session.not_found')) throw error;
  }
  try {
    return await workspaceDirectory(reference, app);
  } catch (error) {
    throw isUnknown(error, 'workspace.not_found') ? sessionNotFound(reference) : error;
  }
}

export default defineFilesEndpoint({
  summary: 'Find files by parts of their names, best first',
  description: 'The session id may be replaced by the id of a workspace or the path of its root.',
  body: fileFields(searchFields),
  data: fileHitsSchema,
  errors: ['fs.path_not_found', 'fs.permission_denied'],
  find,
  handler: ({ body, directory, app, signal }) => app.fileSearch.search(directory, body, signal),
});
