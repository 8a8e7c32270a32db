/** Combines the data about each server for the panel. */
import type { AuthStatus, Locator, ManagedServer, McpServerRow, ToolDescriptor } from '@service-code/client';
import { t } from '../../messages/messages.ts';
import type { NamedStatus } from './requests.ts';

export interface ShownTool {
  name: string;
  description: string;
}

export interface ShownServer {
  /** Unique, unlike the name: a file may define one that a plugin has. */
  key: string;
  name: string;
  locator: Locator;
  config: ManagedServer['config'];
  /** The defining file, or the plugin; only the user's entries can be edited. */
  origin: string;
  editable: boolean;
  tone: 'good' | 'bad' | 'attention' | 'idle';
  state: string;
  connecting: boolean;
  /** The last failure, including the output of its program. */
  error: string | undefined;
  tools: ShownTool[];
  /** A file defines a server of this name, so that of the plugin is not used. */
  overridden: boolean;
  canSignIn: boolean;
  canSignOut: boolean;
}

export interface Known {
  configured: readonly ManagedServer[];
  running: readonly McpServerRow[];
  statuses: readonly NamedStatus[];
  tools: readonly ToolDescriptor[];
}

/** Spells the name of a server as the names of its tools do. */
const inToolNames = (name: string) => name.replace(/[^A-Za-z0-9_-]/g, '_').replace(/_+/g, '_');

const WANTS_SIGN_IN: readonly (AuthStatus | undefined)[] = ['oauth-required', 'oauth-expired'];

function stateOf(row: McpServerRow | undefined, config: ManagedServer['config'], wantsSignIn: boolean) {
  const shown = (tone: ShownServer['tone'], state: string) => ({ tone, state });
  if (config.enabled === false) return shown('idle', t('mcp.disabled'));
  if (row?.status === 'connected') return shown('good', t('mcp.tools', { count: row.tool_count }));
  if (row?.status === 'connecting') return shown('idle', t('mcp.connecting'));
  if (wantsSignIn) return shown('attention', t('mcp.signInNeeded'));
  if (row?.status === 'error') return shown('bad', t('mcp.failed'));
  return shown('idle', t('mcp.notStarted'));
}

function toolsOf(name: string, tools: readonly ToolDescriptor[]): ShownTool[] {
  const own = inToolNames(name);
  const prefix = `mcp__${own}__`;
  return tools.flatMap((tool) =>
    tool.mcp_server_id === own
      ? [
          {
            name: tool.name.startsWith(prefix) ? tool.name.slice(prefix.length) : tool.name,
            description: tool.description,
          },
        ]
      : [],
  );
}

/** In the order of the configuration. */
export function shownServers({ configured, running, statuses, tools }: Known): ShownServer[] {
  return configured.map((server) => {
    const { name, config, origin, mutable, plugin } = server;
    const sameName = configured.filter((one) => one.name === name);
    const overridden = sameName[0] !== server;
    const row = overridden ? undefined : running.find((one) => one.name === name);
    // The statuses of equal names have the order of the configuration.
    const status = statuses.filter((one) => one.name === name)[sameName.indexOf(server)]?.authStatus;
    const connected = row?.status === 'connected';
    const wantsSignIn = !connected && WANTS_SIGN_IN.includes(status);
    return {
      key: `${plugin ? 'plugin' : 'global'}:${name}`,
      name,
      locator: plugin ? { source: 'plugin', pluginId: plugin.id, serverName: plugin.name } : { source: 'global', name },
      config,
      origin: plugin ? t('mcp.ofPlugin', { id: plugin.id }) : origin,
      editable: mutable,
      ...(overridden ? { tone: 'idle', state: t('mcp.overridden') } : stateOf(row, config, wantsSignIn)),
      overridden,
      connecting: row?.status === 'connecting',
      error: wantsSignIn ? undefined : row?.last_error,
      tools: connected ? toolsOf(name, tools) : [],
      canSignIn: wantsSignIn && !overridden,
      canSignOut: status === 'oauth-authorized' && !overridden,
    };
  });
}

/** The command or the address, in one line. */
export function summaryOf(config: ManagedServer['config']): string {
  return config.transport === 'stdio' ? [config.command, ...(config.args ?? [])].join(' ') : config.url;
}
