import { trustSchema, workspaceParams } from '#schema/workspace.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Trust a workspace',
  tag: 'workspaces',
  params: workspaceParams,
  data: trustSchema,
  errors: ['workspace.not_found'],
  load: ({ params, app }) => app.workspaces.get(params.workspace_id),
  handler: async ({ resource: { root }, app }) => {
    await app.trust.trust(root);
    return { trusted: true };
  },
});
