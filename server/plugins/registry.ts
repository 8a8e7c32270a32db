/** The file `plugins/installed.json` of a home: which plugins are installed, from where, and which are enabled. */
import { stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import * as z from 'zod';
import { errorCode } from '#server/errors/errno.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import { readRegular } from '#server/files/read-regular.ts';
import { parseJson } from '#server/text/json.ts';
import { jsonErrorReason } from '#server/text/json-error.ts';
import { pluginRepositorySchema, pluginSourceKinds } from '#schema/rest/plugin.ts';

const MAX_BYTES = 4 * 1024 * 1024;
export const REGISTRY_VERSION = 1;

/** Pattern of the `name` in a manifest. In lower case it is the id. */
export const PLUGIN_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** Unknown members are preserved. */
const entrySchema = z.looseObject({
  id: z.string().regex(PLUGIN_NAME),
  root: z.string().refine(isAbsolute, 'not an absolute path'),
  source: z.enum(pluginSourceKinds),
  enabled: z.boolean(),
  installedAt: z.string(),
  updatedAt: z.string().optional(),
  originalSource: z.string().optional(),
  capabilities: z
    .looseObject({ mcpServers: z.record(z.string(), z.looseObject({ enabled: z.boolean() })).optional() })
    .optional(),
  github: pluginRepositorySchema.optional(),
});
/** A row of the registry. */
export type InstalledEntry = z.output<typeof entrySchema>;

export const registrySchema = z.looseObject({
  version: z.literal(REGISTRY_VERSION),
  /** In the order of their first installs. */
  plugins: z
    .array(entrySchema)
    .refine((plugins) => new Set(plugins.map(({ id }) => id)).size === plugins.length, 'an id occurs twice'),
});
export type Registry = z.output<typeof registrySchema>;

export const registryFile = (home: string): string => join(home, 'plugins', 'installed.json');

/** The reason why the registry cannot be used. */
export class UnreadableRegistry extends Error {
  override readonly name = 'UnreadableRegistry';
}

const newer = z.looseObject({ version: z.number().gt(REGISTRY_VERSION) });

function parseRegistry(text: string, path: string): Registry {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw new UnreadableRegistry(`${path}: ${jsonErrorReason(error, text)}`);
  }
  const later = newer.safeParse(value);
  if (later.success) {
    throw new UnreadableRegistry(`${path}: version ${later.data.version} is newer than this server supports`);
  }
  const parsed = registrySchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new UnreadableRegistry(`${path}: ${[issue?.path.join('.'), issue?.message].filter(Boolean).join(': ')}`);
}

/** Reads the registry; a missing file is an empty one. Throws `UnreadableRegistry`. */
export async function readRegistry(home: string): Promise<Registry> {
  const path = registryFile(home);
  let bytes: Uint8Array;
  try {
    bytes = await readRegular(path, { maxBytes: MAX_BYTES });
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { version: REGISTRY_VERSION, plugins: [] };
    throw new UnreadableRegistry(errorMessage(error), { cause: error });
  }
  return parseRegistry(Buffer.from(bytes).toString('utf8'), path);
}

/** Changes with each write of the file; undefined while it is missing or cannot be examined. */
export async function registryVersion(home: string): Promise<string | undefined> {
  try {
    const { ino, size, mtimeNs } = await stat(registryFile(home), { bigint: true });
    return `${ino}-${size}-${mtimeNs}`;
  } catch {
    return undefined;
  }
}
