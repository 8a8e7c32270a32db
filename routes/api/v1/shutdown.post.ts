import { z } from 'zod';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Stop the server',
  tag: 'meta',
  mounted: ({ loopback, allowRemoteShutdown }) => loopback || allowRemoteShutdown,
  data: z.object({ ok: z.literal(true) }),
  handler({ event, app }) {
    // `close` follows `finish`, and comes alone when the caller has gone: either way the answer is out of our hands.
    event.node.res.once('close', () => app.requestStop());
    return { ok: true as const };
  },
});
