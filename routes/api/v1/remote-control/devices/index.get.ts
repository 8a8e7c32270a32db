import { remoteDevicesSchema } from '#schema/rest/remote-control.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Devices of the account, in the order of the cloud',
  tag: 'remote-control',
  operationId: 'listRemoteDevices',
  data: remoteDevicesSchema,
  errors: ['auth.token_missing', 'auth.token_unauthorized', 'internal.error'],
  handler: async ({ app }) => (await app.remote()).devices(),
});
