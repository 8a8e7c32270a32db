import * as z from 'zod';
import { resolveApprovalSchema } from '#schema/rest/interaction.ts';
import { isoTime } from '#schema/scalars.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Answer an approval; the first answer wins',
  tag: 'approvals',
  params: pathParams('session_id', 'approval_id'),
  body: resolveApprovalSchema,
  data: z.object({ resolved: z.literal(true), resolved_at: isoTime }),
  errors: ['session.not_found', 'session.busy', 'approval.not_found', 'approval.already_resolved', 'approval.expired'],
  handler: ({ params, body, caller, app }) =>
    app.sessions.use(params.session_id, async ({ approvals }) => ({
      resolved: true as const,
      ...(await approvals.resolve(params.approval_id, body, caller)),
    })),
});
