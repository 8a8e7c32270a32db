/** Remote control of this machine through a relay, and the devices of the account. */
import * as z from 'zod';
import { isoTime } from '../scalars.ts';

/** Another live server of the home that hosts the tunnel; empty texts while it has not described itself. */
export const remoteConflictSchema = z
  .object({
    pid: z.int(),
    local_origin: z.string(),
    device_id: z.string(),
    url: z.string(),
    started_at: z.string(),
  })
  .meta({ id: 'RemoteConflict' });
export type RemoteConflict = z.infer<typeof remoteConflictSchema>;

export const remoteStatusSchema = z
  .object({
    /** The user's choice: true in `starting` and `on`. */
    enabled: z.boolean(),
    state: z.enum(['off', 'starting', 'on', 'stopping']),
    /** Public address, without the token. */
    url: z.string().optional(),
    device_id: z.string(),
    device_name: z.string(),
    /** The last failure; in `off` and `starting`. */
    error: z.string().optional(),
    /** In `off` only. */
    conflict: remoteConflictSchema.optional(),
  })
  .meta({ id: 'RemoteStatus' });
export type RemoteStatus = z.infer<typeof remoteStatusSchema>;

export const remoteDeviceSchema = z
  .object({
    device_id: z.string(),
    alias: z.string(),
    status: z.enum(['online', 'offline']),
    platform: z.string(),
    client_version: z.string(),
    local_base_url: z.string(),
    created_at: isoTime,
    updated_at: isoTime,
    last_remote_access_at: isoTime.nullable(),
  })
  .meta({ id: 'RemoteDevice' });
export type RemoteDevice = z.infer<typeof remoteDeviceSchema>;

/** Devices in the cloud's order; `max_devices` is absent if there is no limit. */
export const remoteDevicesSchema = z.object({
  devices: z.array(remoteDeviceSchema),
  max_devices: z.int().optional(),
});
export type RemoteDevices = z.infer<typeof remoteDevicesSchema>;

const MAX_ALIAS_LENGTH = 50;

/** 1 to 50 code points after trimming. */
export const remoteAliasSchema = z.object({
  alias: z
    .string()
    .trim()
    .min(1)
    .refine((alias) => [...alias].length <= MAX_ALIAS_LENGTH, `must have at most ${MAX_ALIAS_LENGTH} characters`),
});

export const remoteSwitchSchema = z.object({ enabled: z.boolean() });
export const remoteDoneSchema = z.object({ ok: z.literal(true) });
