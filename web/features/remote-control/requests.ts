/** REST calls of the view of remote control. */
import type { RemoteDevices, RemoteStatus } from '#schema/rest/remote-control.ts';
import type { Rest } from '../../client/rest.ts';

type Calls = Pick<Rest, 'request'>;

const DEVICES = 'remote-control/devices';
const pathOf = (id: string) => `${DEVICES}/${encodeURIComponent(id)}`;

export const readStatus = (rest: Calls) => rest.request<RemoteStatus>('GET', 'remote-control');

/** A start resolves when the tunnel is open, or after 15 s while it is still starting. */
export const switchRemote = (rest: Calls, enabled: boolean) =>
  rest.request<RemoteStatus>('POST', 'remote-control', { body: { enabled } });

/** The devices of the account, from the cloud. */
export const listDevices = (rest: Calls) => rest.request<RemoteDevices>('GET', DEVICES);

export const renameDevice = (rest: Calls, id: string, alias: string) =>
  rest.request<unknown>('PATCH', pathOf(id), { body: { alias } });

export const deactivateDevice = (rest: Calls, id: string) => rest.request<unknown>('POST', `${pathOf(id)}/deactivate`);

export const removeDevice = (rest: Calls, id: string) => rest.request<unknown>('DELETE', pathOf(id));
