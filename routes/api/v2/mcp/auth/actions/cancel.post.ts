import * as z from 'zod';
import { nonEmpty } from '#schema/scalars.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Cancel a sign-in',
  tag: 'v2-mcp',
  body: z.object({ flowId: nonEmpty }),
  data: z.null(),
  handler({ body, app }) {
    app.mcpAuth.cancel(body.flowId);
    return null;
  },
});
