import { capabilitySchema } from '#schema/rest/capability.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Install or update a capability in the background',
  description: 'Replies with the status directly after the start; progress is in `event.capability.changed`.',
  tag: 'capabilities',
  operationId: 'installCapability',
  params: pathParams('capability_id'),
  data: capabilitySchema,
  errors: ['validation.failed', 'capability.not_found', 'capability.install_in_progress', 'capability.unsupported'],
  handler: ({ params: { capability_id }, app }) => app.capabilities.install(capability_id),
});
