import { defineDeviceEndEndpoint } from '#utils/remote-device-endpoint.ts';

export default defineDeviceEndEndpoint({
  summary: 'Deactivate a device: it stays listed, but is no part of the quota',
  operationId: 'deactivateRemoteDevice',
  end: (remote, id) => remote.deactivate(id),
});
