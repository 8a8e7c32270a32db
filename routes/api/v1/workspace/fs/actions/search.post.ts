import { fileHitsSchema, searchFields } from '#schema/rest/file-search.ts';
import { nonEmpty } from '#schema/scalars.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { assertRuntime, fileFields } from '#utils/files-endpoint.ts';
import { workspaceDirectory } from '#utils/workspace-directory.ts';

export default defineEndpoint({
  summary: 'Find files of a workspace by parts of their names, best first',
  operationId: 'workspaceFsSearch',
  tag: 'fs',
  body: fileFields({ workspace: nonEmpty, ...searchFields }),
  data: fileHitsSchema,
  errors: [
    'workspace.not_found',
    'runtime.not_found',
    'runtime.unavailable',
    'fs.path_not_found',
    'fs.permission_denied',
    'fs.path_escapes_session',
  ],
  async handler({ body, app, signal }) {
    const directory = await workspaceDirectory(body.workspace, app);
    assertRuntime(body.runtime_id, directory.workspaceId);
    return app.fileSearch.search(directory, body, signal);
  },
});
