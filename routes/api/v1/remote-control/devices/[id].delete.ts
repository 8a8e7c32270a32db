import { defineDeviceEndEndpoint } from '#utils/remote-device-endpoint.ts';

export default defineDeviceEndEndpoint({
  summary: 'Remove a device from the account and disconnect it',
  description: 'An unknown device is removed already.',
  operationId: 'removeRemoteDevice',
  end: (remote, id) => remote.remove(id),
});
