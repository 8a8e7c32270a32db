import * as z from 'zod';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Liveness, without a token',
  tag: 'meta',
  stateless: true,
  data: z.object({ ok: z.literal(true) }),
  handler: () => ({ ok: true as const }),
});
