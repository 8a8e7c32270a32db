import { quoted } from '#server/sessions/live/change-warning.ts';
import { addDirectorySchema, addedDirectorySchema, workspaceParams } from '#schema/rest/workspace.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Add a directory to a workspace',
  description: 'Stored in the local configuration of the project, or kept until the server exits.',
  tag: 'workspaces',
  params: workspaceParams,
  body: addDirectorySchema,
  data: addedDirectorySchema,
  errors: ['workspace.not_found', 'fs.path_not_found', 'fs.permission_denied'],
  async handler({ params, body, caller, app }) {
    const { root } = await app.workspaces.get(params.workspace_id);
    const added = await app.additionalDirs.add(root, body.path, body.persist);
    await app.workspaceChanged(
      params.workspace_id,
      `${quoted(body.path)} was added to the directories of ${quoted(root)}`,
      caller,
    );
    return added;
  },
});
