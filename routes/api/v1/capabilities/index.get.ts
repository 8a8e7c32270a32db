import * as z from 'zod';
import { capabilitySchema } from '#schema/rest/capability.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'All capabilities, detected now',
  description: 'A detection that fails is a failed step `detect` of its capability.',
  tag: 'capabilities',
  tagDescription: 'Programs outside the server that it can install',
  operationId: 'listCapabilities',
  data: z.object({ capabilities: z.array(capabilitySchema) }),
  handler: async ({ app }) => ({ capabilities: await app.capabilities.list() }),
});
