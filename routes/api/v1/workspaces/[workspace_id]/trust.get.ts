import { trustSchema, workspaceParams } from '#schema/rest/workspace.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Whether a workspace is trusted',
  tag: 'workspaces',
  params: workspaceParams,
  data: trustSchema,
  errors: ['workspace.not_found'],
  load: ({ params, app }) => app.workspaces.get(params.workspace_id),
  handler: async ({ resource: { root }, app }) => ({ trusted: await app.trust.trusted(root) }),
});
