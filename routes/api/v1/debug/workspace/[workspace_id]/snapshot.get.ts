import { workspaceSnapshotSchema } from '#schema/rest/debug.ts';
import { defineDebugEndpoint } from '#utils/debug-endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineDebugEndpoint({
  summary: 'Load and read a workspace',
  params: pathParams('workspace_id'),
  data: workspaceSnapshotSchema,
  errors: ['workspace.not_found'],
  view: (debug, { workspace_id }) => debug.workspaces.of(workspace_id),
});
