import { capabilitySchema } from '#schema/rest/capability.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'A capability, detected now, and its installation',
  tag: 'capabilities',
  operationId: 'getCapability',
  params: pathParams('capability_id'),
  data: capabilitySchema,
  errors: ['capability.not_found'],
  handler: ({ params: { capability_id }, app }) => app.capabilities.get(capability_id),
});
