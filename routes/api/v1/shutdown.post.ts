import * as z from 'zod';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Stop the server',
  tag: 'meta',
  mounted: ({ exposed, allowRemoteShutdown }) => !exposed || allowRemoteShutdown,
  data: z.object({ ok: z.literal(true) }),
  handler({ app, afterReply }) {
    afterReply(app.requestStop);
    return { ok: true as const };
  },
});
