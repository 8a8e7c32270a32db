/** The registry of devices at the relay. Replies are read leniently: the relay may be of another version. */
import * as z from 'zod';
import { tryParseJson } from '#server/text/json.ts';
import type { RemoteDevice, RemoteDevices } from '#schema/rest/remote-control.ts';
import { bearerSchema, CloudRequestError, type CapturedSession, type CloudClient } from './cloud-client.ts';

const MAX_DEVICES = 1000;

const text = z.string().catch('');
const deviceSchema = z.object({
  device_id: z.string().min(1),
  alias: text,
  status: z.enum(['online', 'offline']).catch('offline'),
  platform: text,
  client_version: text,
  local_base_url: text,
  created_at: text,
  updated_at: text,
  last_remote_access_at: z.string().nullable().catch(null),
});

const deviceListSchema = z.object({
  devices: z.array(z.unknown()),
  max_devices: z.int().min(1).optional().catch(undefined),
});

/** An address of this protocol without credentials; the fragment is reserved for the token. */
const address = (protocol: RegExp) =>
  z.url({ protocol }).transform((url, context) => {
    const parsed = new URL(url);
    if (parsed.username || parsed.password || parsed.hash) context.addIssue('an address without credentials');
    return parsed.href;
  });

const registeredSchema = z.object({
  url: address(/^https?$/),
  tunnel_url: address(/^wss?$/),
  tunnel_ticket: bearerSchema,
});

/** The facts by which this device registers. */
export interface Registration {
  device_id: string;
  alias: string;
  platform: string;
  client_version: string;
  local_base_url: string;
  instance_id: string;
}

export interface Registered {
  /** Public address of the device. */
  url: string;
  tunnelUrl: string;
  /** For one connection. */
  ticket: string;
}

/** All functions throw as `CloudClient.request`. */
export interface Registry {
  list(): Promise<RemoteDevices>;
  register(registration: Registration, signal: AbortSignal): Promise<Registered>;
  rename(id: string, alias: string): Promise<void>;
  deactivate(id: string): Promise<void>;
  /** An unknown device is removed already. */
  remove(id: string): Promise<void>;
  /** Deactivates a device with a captured session; errors are ignored. */
  deactivateWith(session: CapturedSession, id: string): Promise<void>;
}

/** URLs resolve these two names to another path, whether they are encoded or not. */
function pathOf(id: string): string {
  if (id === '.' || id === '..') throw new CloudRequestError('There is no such device', { status: 404 });
  return `/devices/${encodeURIComponent(id)}`;
}

function read<Schema extends z.ZodType>(schema: Schema, body: string): z.output<Schema> {
  const parsed = schema.safeParse(tryParseJson(body));
  if (!parsed.success) throw new CloudRequestError('The relay sent an invalid reply', { status: 200 });
  return parsed.data;
}

export function createRegistry({ request, finish }: CloudClient): Registry {
  return {
    async list() {
      const { devices, max_devices } = read(deviceListSchema, (await request('GET', '/devices')).body);
      const valid = devices.slice(0, MAX_DEVICES).flatMap((device): RemoteDevice[] => {
        const parsed = deviceSchema.safeParse(device);
        return parsed.success ? [parsed.data] : [];
      });
      return { devices: valid, ...(max_devices !== undefined && { max_devices }) };
    },
    async register(registration, signal) {
      const { body } = await request('POST', '/devices', { json: registration, signal });
      const { url, tunnel_url: tunnelUrl, tunnel_ticket: ticket } = read(registeredSchema, body);
      return { url, tunnelUrl, ticket };
    },
    async rename(id, alias) {
      await request('PATCH', pathOf(id), { json: { alias } });
    },
    async deactivate(id) {
      await request('POST', `${pathOf(id)}/deactivate`);
    },
    async remove(id) {
      try {
        await request('DELETE', pathOf(id));
      } catch (error) {
        if (!(error instanceof CloudRequestError) || error.status !== 404) throw error;
      }
    },
    deactivateWith: (session, id) => finish(session, 'POST', `${pathOf(id)}/deactivate`),
  };
}
