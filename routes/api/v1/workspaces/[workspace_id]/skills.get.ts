import * as z from 'zod';
import { skillDescriptorSchema } from '#schema/rest/skill.ts';
import { workspaceParams } from '#schema/rest/workspace.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'The skills and slash commands of a workspace, without a session',
  tag: 'skills',
  operationId: 'listWorkspaceSkills',
  params: workspaceParams,
  data: z.object({ skills: z.array(skillDescriptorSchema) }),
  errors: ['workspace.not_found'],
  load: ({ params, app }) => app.workspaces.get(params.workspace_id),
  handler: async ({ resource: { root }, app }) => ({ skills: await app.skillsOf(root) }),
});
