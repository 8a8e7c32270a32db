import * as z from 'zod';
import { nonEmpty } from '#schema/scalars.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

const MAX_MS = 2_147_483_647;

export default defineEndpoint({
  summary: 'Wait until a sign-in has completed',
  description:
    'If the client disconnects, the sign-in is cancelled. `redirectUrl` is the address to which a browser on another machine was redirected.',
  tag: 'v2-mcp',
  body: z.object({
    flowId: nonEmpty,
    timeoutMs: z.int().min(1).max(MAX_MS).optional(),
    redirectUrl: nonEmpty.optional(),
  }),
  data: z.null(),
  errors: ['mcp.oauth_failed'],
  async handler({ body: { flowId, timeoutMs, redirectUrl }, signal, app }) {
    await app.mcpAuth.complete(flowId, { timeoutMs, redirectUrl, signal });
    return null;
  },
});
