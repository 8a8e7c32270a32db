import * as z from 'zod';
import { channelSchema } from '#schema/rest/debug.ts';
import { defineDebugEndpoint } from '#utils/debug-endpoint.ts';

export default defineDebugEndpoint({
  summary: 'List the members that can be called',
  data: z.array(channelSchema),
  view: (debug) => debug.channels(),
});
