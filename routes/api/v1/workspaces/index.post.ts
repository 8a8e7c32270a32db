import { createWorkspaceSchema, workspaceSchema } from '#schema/workspace.ts';
import { checkRoot } from '#server/workspaces/workspace-root.ts';
import { useApp } from '#utils/app.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Register a project directory, or open a registered one again',
  tag: 'workspaces',
  body: createWorkspaceSchema,
  data: workspaceSchema,
  errors: ['fs.path_not_found', 'fs.permission_denied'],
  handler: async ({ body: { root, name } }) => {
    await checkRoot(root);
    return useApp().workspaces.register(root, name);
  },
});
