/** Configuration of an MCP server in files and requests. */
import * as z from 'zod';
import { clientArray } from '../client-array.ts';
import { nonEmpty } from '../scalars.ts';

const texts = clientArray(z.string());
const textMap = z.record(z.string(), z.string());
const MAX_MS = 2_147_483_647;
const milliseconds = z.int().min(1).max(MAX_MS);

/** `${NAME}` or `${NAME:-default}`; resolved when the server is started. */
export const PLACEHOLDER = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

export const hasPlaceholder = (text: string): boolean => text.search(PLACEHOLDER) !== -1;

/** Accepts any scheme; an address with a placeholder is parsed when the server is started. */
const address = z.string().refine((text) => hasPlaceholder(text) || URL.canParse(text), 'Invalid URL');

const common = {
  enabled: z.boolean().optional(),
  startupTimeoutMs: milliseconds.optional(),
  toolTimeoutMs: milliseconds.optional(),
  enabledTools: texts.optional(),
  disabledTools: texts.optional(),
};

const stdioBase = {
  transport: z.literal('stdio'),
  command: nonEmpty,
  args: texts.optional(),
  cwd: z.string().optional(),
  runtime_id: nonEmpty.optional(),
};
const remoteBase = {
  transport: z.enum(['http', 'sse']),
  url: address,
  auth: z.literal('oauth').optional(),
  bearerTokenEnvVar: nonEmpty.optional(),
};

const stdioShape = { ...stdioBase, env: textMap.optional(), ...common };
const remoteShape = { ...remoteBase, headers: textMap.optional(), ...common };

/** `transport` is optional only in files. Unknown members and those of other transports are stripped. */
export const mcpServerConfigSchema = z.discriminatedUnion('transport', [z.object(stdioShape), z.object(remoteShape)]);
export type McpServerConfig = z.output<typeof mcpServerConfigSchema>;
export type McpRemoteConfig = Extract<McpServerConfig, { url: string }>;

/** A config that contains its name. */
export const mcpServerInputSchema = z.discriminatedUnion('transport', [
  z.object({ name: nonEmpty, ...stdioShape }),
  z.object({ name: nonEmpty, ...remoteShape }),
]);
export type McpServerInput = z.output<typeof mcpServerInputSchema>;

const keyNames = z.array(z.string()).optional();

/** Omits the values of `env` and `headers`; their names are listed, sorted. */
export const redactedMcpServerSchema = z.discriminatedUnion('transport', [
  z.strictObject({ ...stdioBase, ...common, envKeys: keyNames }),
  z.strictObject({ ...remoteBase, ...common, headerKeys: keyNames }),
]);
export type RedactedMcpServer = z.output<typeof redactedMcpServerSchema>;

/** The config in replies: complete if the entry is editable, else redacted. */
export const shownMcpServerSchema = z.union([
  z.strictObject(stdioShape),
  z.strictObject(remoteShape),
  redactedMcpServerSchema,
]);
