import { renameWorkspaceSchema, workspaceParams, workspaceSchema } from '#schema/rest/workspace.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Rename a workspace',
  tag: 'workspaces',
  params: workspaceParams,
  body: renameWorkspaceSchema,
  data: workspaceSchema,
  errors: ['workspace.not_found'],
  handler: ({ params, body, caller, app }) => app.workspaces.rename(params.workspace_id, body.name, caller),
});
