import { createWorkspaceSchema, workspaceSchema } from '#schema/rest/workspace.ts';
import { checkRoot } from '#server/workspaces/workspace-root.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Register a project directory, or open a registered one again',
  tag: 'workspaces',
  body: createWorkspaceSchema,
  data: workspaceSchema,
  errors: ['fs.path_not_found', 'fs.permission_denied'],
  handler: async ({ body: { root, name }, app }) => {
    await checkRoot(root);
    return app.workspaces.register(root, name);
  },
});
