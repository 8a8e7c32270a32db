import * as z from 'zod';
import { approvalSchema } from '#schema/rest/interaction.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Pending approvals of all agents, oldest first',
  tag: 'approvals',
  tagDescription: 'Approval requests',
  params: pathParams('session_id'),
  query: z.object({ status: z.literal('pending') }),
  data: z.object({ items: z.array(approvalSchema) }),
  errors: ['session.not_found'],
  handler: async ({ params, app }) => ({ items: await (await app.sessions.read(params.session_id)).approvals() }),
});
