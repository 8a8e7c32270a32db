import * as z from 'zod';
import { skillDescriptorSchema } from '#schema/rest/skill.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'The skills and slash commands of a session; loads the session',
  tag: 'skills',
  tagDescription: 'Skills and slash commands',
  operationId: 'listSkills',
  params: pathParams('session_id'),
  data: z.object({ skills: z.array(skillDescriptorSchema) }),
  errors: ['session.not_found'],
  handler: async ({ params, app }) => ({ skills: await app.sessions.skills(params.session_id) }),
});
