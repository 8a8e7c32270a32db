/** A home and a project with MCP files. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { ServiceError } from '#server/errors/service-error.ts';
import { createLogger } from '#server/logging/log.ts';
import { createMcpConfig } from '#server/mcp/config/mcp-config.ts';
import type { PluginServer } from '#server/mcp/config/plugin-layer.ts';
import { createUserFileWriter } from '#server/mcp/config/user-file-writer.ts';
import { createChangeLock } from '#server/storage/change-lock.ts';
import { leaseHolder } from './lease-holder.ts';
import { temporaryHome } from './temporary-home.ts';

/** Writes a file and creates its parent directories. */
export async function putFile(path: string, content: unknown): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

export const serversOf = (...names: string[]) => ({
  mcpServers: Object.fromEntries(names.map((name) => [name, { command: name }])),
});

export async function openMcpConfig(holder = leaseHolder()) {
  const base = await temporaryHome();
  const home = join(base, 'home');
  const root = join(base, 'repository', 'project');
  await mkdir(home);
  await mkdir(root, { recursive: true });
  const top = dirname(root);
  const facts = { trusted: new Set([root, top]), trustFails: false, workspace: true };
  const plugins = { servers: [] as PluginServer[], unreadable: false };
  const lines: string[] = [];
  const config = createMcpConfig({
    home,
    projectRootOf: async () => top,
    async trusted(directory) {
      if (facts.trustFails) throw new Error('unreadable');
      return facts.trusted.has(directory);
    },
    trustFile: async () => join(home, 'trust', 'marker.json'),
    isWorkspace: async () => facts.workspace,
    lock: createChangeLock({ path: join(home, 'mcp.json.lock'), holder, writer: createUserFileWriter(home) }),
    plugins: {
      enabled: async () => plugins.servers.filter(({ enabled }) => enabled),
      async installed() {
        if (plugins.unreadable) throw new ServiceError('internal.error', 'Plugin state failed to load: no');
        return plugins.servers;
      },
    },
    env: () => ({ SERVICE_OAUTH_HOST: 'https://host.example', PATH: process.env.PATH }),
    log: createLogger('debug', (line) => lines.push(line)),
  });
  onTestFinished(() => config.close());
  return {
    home,
    root,
    top,
    facts,
    plugins,
    lines,
    config,
    user: join(home, 'mcp.json'),
    shared: join(top, '.mcp.json'),
    local: join(root, '.service-code', 'mcp.json'),
  };
}
