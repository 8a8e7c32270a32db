import { remoteStatusSchema } from '#schema/rest/remote-control.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'State of remote control',
  description: 'Works without a login. There are no events for changes: clients poll it.',
  tag: 'remote-control',
  tagDescription: 'Reaching this server through a relay, and the devices of the account',
  operationId: 'getRemoteControl',
  data: remoteStatusSchema,
  handler: async ({ app }) => (await app.remote()).status(),
});
