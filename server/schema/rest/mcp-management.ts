/** Configured MCP servers as clients manage them, independent of any session. */
import * as z from 'zod';
import { clientArray } from '../client-array.ts';
import { redactedMcpServerSchema, shownMcpServerSchema } from '../config/mcp-server.ts';
import { nonEmpty } from '../scalars.ts';

const sourceSchema = z.enum(['global', 'plugin']);

export const managedServerSchema = z.object({
  /** The server's name at run time. */
  name: z.string(),
  config: shownMcpServerSchema,
  source: sourceSchema,
  /** Absolute path of the defining file, or the id of the plugin. */
  origin: z.string(),
  mutable: z.boolean(),
  plugin: z.object({ id: z.string(), name: z.string() }).optional(),
});
export type ManagedServer = z.infer<typeof managedServerSchema>;

export const authStatusSchema = z.enum([
  'not-applicable',
  'bearer-token',
  'oauth-required',
  'oauth-authorized',
  'oauth-expired',
  'unavailable',
]);
export type AuthStatus = z.infer<typeof authStatusSchema>;

const globalShape = { source: z.literal('global'), name: nonEmpty };
const pluginShape = { source: z.literal('plugin'), pluginId: nonEmpty, serverName: nonEmpty };

/** Identifies an entry. */
const locatorSchema = z.discriminatedUnion('source', [z.object(globalShape), z.object(pluginShape)]);
export type Locator = z.infer<typeof locatorSchema>;

/** A directory whose project files are included if it is trusted. */
const directory = nonEmpty.optional();
export const directoryQuery = z.object({ cwd: directory });

export const locatorBody = z.discriminatedUnion('source', [
  z.object({ ...globalShape, cwd: directory }),
  z.object({ ...pluginShape, cwd: directory }),
]);

/** `targets`: the entries to inspect. */
export const inspectBody = z.object({ targets: clientArray(locatorSchema).optional(), cwd: directory });

export const inspectionSchema = z.object({
  serverId: z.string(),
  locator: locatorSchema,
  runtimeName: z.string(),
  canonicalUrl: z.string().optional(),
  origin: sourceSchema,
  config: redactedMcpServerSchema,
  enabled: z.boolean(),
  editable: z.boolean(),
  authStatus: authStatusSchema,
  /** Time of the probe, in ms since the epoch; absent if the status is derived from the config. */
  checkedAt: z.number().optional(),
  error: z.string().optional(),
});
export type Inspection = z.infer<typeof inspectionSchema>;

export const testOutcomeSchema = z.object({ success: z.boolean(), output: z.string() });
export type TestOutcome = z.infer<typeof testOutcomeSchema>;
