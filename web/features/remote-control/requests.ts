/** REST calls of the view of remote control. */
import type { Rest } from '@service-code/client';

type Calls = Pick<Rest, 'request'>;

export const readStatus = (rest: Calls) => rest.request('GET /api/v1/remote-control');

/** A start resolves when the tunnel is open, or after 15 s while it is still starting. */
export const switchRemote = (rest: Calls, enabled: boolean) =>
  rest.request('POST /api/v1/remote-control', { body: { enabled } });

/** The devices of the account, from the cloud. */
export const listDevices = (rest: Calls) => rest.request('GET /api/v1/remote-control/devices');

export const renameDevice = (rest: Calls, id: string, alias: string) =>
  rest.request('PATCH /api/v1/remote-control/devices/{id}', { path: { id }, body: { alias } });

export const deactivateDevice = (rest: Calls, id: string) =>
  rest.request('POST /api/v1/remote-control/devices/{id}/deactivate', { path: { id } });

export const removeDevice = (rest: Calls, id: string) =>
  rest.request('DELETE /api/v1/remote-control/devices/{id}', { path: { id } });
