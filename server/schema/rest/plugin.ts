/** Installed plugins and the catalog of plugins, as clients see them. */
import * as z from 'zod';
import { count } from '../scalars.ts';

export const pluginSourceKinds = ['local-path', 'zip-url', 'github'] as const;

/** A repository, and the commit that was installed. */
export const pluginRepositorySchema = z.object({
  owner: z.string(),
  repo: z.string(),
  /** `HEAD` of kind `branch` for a repository without releases. */
  ref: z.object({ kind: z.enum(['branch', 'tag', 'sha']), value: z.string() }),
  /** 40 hexadecimal digits in lower case. */
  installedSha: z.string().optional(),
});
export type PluginRepository = z.infer<typeof pluginRepositorySchema>;

export const pluginSchema = z
  .object({
    id: z.string(),
    displayName: z.string(),
    version: z.string().optional(),
    enabled: z.boolean(),
    state: z.enum(['ok', 'error']),
    skillCount: count,
    mcpServerCount: count,
    /** Servers whose switch is on, also while the plugin is disabled. */
    enabledMcpServerCount: count,
    hookCount: count,
    commandCount: count,
    hasErrors: z.boolean(),
    source: z.enum(pluginSourceKinds),
    /** The path or URL that was sent at the install. */
    originalSource: z.string().optional(),
    github: pluginRepositorySchema.optional(),
  })
  .meta({ id: 'Plugin' });
export type PluginSummary = z.infer<typeof pluginSchema>;

/** `source`: absolute path of a directory, URL of a zip archive, or URL of a repository. */
export const installPluginSchema = z.object({ source: z.string().trim().min(1) });

export const marketplaceEntrySchema = z
  .object({
    id: z.string(),
    tier: z.enum(['official', 'curated', 'third-party']),
    displayName: z.string(),
    description: z.string().optional(),
    homepage: z.string().optional(),
    keywords: z.array(z.string()).optional(),
    version: z.string().optional(),
    /** The `source` of an install; `capability:<id>` for a capability, which has an install of its own. */
    source: z.string(),
    /** The installed plugin with the entry's id. */
    installed: z.object({ enabled: z.boolean(), version: z.string().optional() }).optional(),
    updateAvailable: z.literal(true).optional(),
    capabilityId: z.string().optional(),
  })
  .meta({ id: 'MarketplaceEntry' });
export type MarketplaceEntry = z.infer<typeof marketplaceEntrySchema>;
