/** The members of a manifest that name programs: hooks and MCP servers. */
import type * as z from 'zod';
import { withTransport } from '#server/mcp/config/server-file.ts';
import { isRecord } from '#server/text/json.ts';
import { LIST_MAX } from '#schema/client-array.ts';
import { hookSchema, type HookConfig } from '#schema/config/config.ts';
import { mcpServerConfigSchema, type McpServerConfig } from '#schema/config/mcp-server.ts';
import type { Report } from './diagnostics.ts';
import { insidePath, type PluginRoot } from './paths-inside.ts';

export interface PluginServer {
  /** The name in the manifest. */
  name: string;
  /** Placeholders not expanded. `cwd`, and a `command` inside the plugin, are absolute. */
  config: McpServerConfig;
}

/** Position and message of the first issue; quotes no value. */
function firstIssue({ issues: [issue] }: z.ZodError): string {
  return [issue?.path.join('.'), issue?.message].filter(Boolean).join(': ');
}

/** Invalid entries are dropped with a warning. */
export function readHooks(value: unknown, report: Report): HookConfig[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    report('warn', '"hooks" must be a list');
    return [];
  }
  const entries: unknown[] = value;
  if (entries.length > LIST_MAX) report('warn', `"hooks" has more than ${LIST_MAX} entries; the others are dropped`);
  return entries.slice(0, LIST_MAX).flatMap((entry, at) => {
    const hook = hookSchema.safeParse(entry);
    if (hook.success) return hook.data;
    report('warn', `"hooks.${at}" is invalid: ${firstIssue(hook.error)}`);
    return [];
  });
}

/** Invalid entries are dropped with a warning. */
export async function readServers(value: unknown, root: PluginRoot, report: Report): Promise<PluginServer[]> {
  if (value === undefined) return [];
  if (!isRecord(value)) {
    report('warn', '"mcpServers" must be an object');
    return [];
  }
  const entries = Object.entries(value);
  if (entries.length > LIST_MAX)
    report('warn', `"mcpServers" has more than ${LIST_MAX} entries; the others are dropped`);
  const servers = new Map<string, McpServerConfig>();
  for (const [key, entry] of entries.slice(0, LIST_MAX)) {
    const name = key.trim();
    const drop = (reason: string) => report('warn', `"mcpServers.${name}" ${reason}`);
    const parsed = mcpServerConfigSchema.safeParse(withTransport(entry));
    if (name === '') drop('has no name');
    else if (servers.has(name)) drop('occurs twice');
    else if (!parsed.success) drop(`is invalid: ${firstIssue(parsed.error)}`);
    else {
      const placed = await placedInside(parsed.data, root);
      if (typeof placed === 'string') drop(placed);
      else servers.set(name, placed);
    }
  }
  return [...servers].map(([name, config]) => ({ name, config }));
}

/** Resolves `command` and `cwd` of a stdio server, or returns the reason why it is dropped. */
async function placedInside(config: McpServerConfig, root: PluginRoot): Promise<McpServerConfig | string> {
  if (config.transport !== 'stdio') return config;
  let { command } = config;
  if (/[/\\]/.test(command)) {
    const program = await insidePath(root, command);
    if (program.kind !== 'file') return 'has a command that is neither a name nor a file of the plugin';
    command = program.path;
  }
  if (config.cwd === undefined) return { ...config, command, cwd: root.path };
  const folder = await insidePath(root, config.cwd);
  if (folder.kind !== 'directory') return 'has a cwd that is no directory of the plugin';
  return { ...config, command, cwd: folder.path };
}
