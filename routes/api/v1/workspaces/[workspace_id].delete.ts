import * as z from 'zod';
import { workspaceParams } from '#schema/rest/workspace.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Unregister a workspace; its sessions and files stay',
  tag: 'workspaces',
  params: workspaceParams,
  data: z.object({ deleted: z.literal(true) }),
  errors: ['workspace.not_found'],
  handler: async ({ params, app }) => {
    await app.workspaces.unregister(params.workspace_id);
    return { deleted: true } as const;
  },
});
