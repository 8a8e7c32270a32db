import * as z from 'zod';
import { activateSkillSchema } from '#schema/rest/skill.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { MEDIA_BODY_LIMIT } from '#utils/http/body.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Activate a skill or the command of a plugin; the reply is sent when it runs or waits',
  tag: 'skills',
  operationId: 'activateSkill',
  params: pathParams('session_id', 'skill_name'),
  body: activateSkillSchema,
  bodyLimit: MEDIA_BODY_LIMIT,
  data: z.object({ activated: z.literal(true), skill_name: z.string() }),
  errors: [
    'session.not_found',
    'skill.not_found',
    'skill.not_activatable',
    'file.not_found',
    'session.busy',
    'persistence.failure',
  ],
  handler: async ({ params, body, app }) => {
    await app.sessions.activateSkill(params.session_id, params.skill_name, body);
    return { activated: true as const, skill_name: params.skill_name };
  },
});
