import { quoted } from '#server/sessions/live/change-warning.ts';
import { trustSchema, workspaceParams } from '#schema/rest/workspace.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Trust a workspace',
  tag: 'workspaces',
  params: workspaceParams,
  data: trustSchema,
  errors: ['workspace.not_found'],
  load: ({ params, app }) => app.workspaces.get(params.workspace_id),
  handler: async ({ params, resource: { root }, caller, app }) => {
    const before = await app.trust.trusted(root);
    await app.trust.trust(root);
    if (!before) await app.workspaceChanged(params.workspace_id, `${quoted(root)} is trusted`, caller);
    return { trusted: true };
  },
});
