/** Sessions with MCP servers: each in its own workspace, with the servers that the test writes to the home. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { mcpServerSchema, type McpServerRow } from '#schema/rest/mcp.ts';
import { toolDescriptorSchema } from '#schema/rest/tool.ts';
import { eventually } from './patience.ts';
import { startTalk, type Talk } from './talk.ts';
import type { World } from './world.ts';

const HOSTILE = resolve('tests/support/hostile-mcp-server.mjs');

/** A configuration entry of the misbehaving server; see `hostile-mcp-server.mjs`. */
export const hostile = (modes = '', file = '') => ({ command: process.execPath, args: [HOSTILE, modes, file] });

let workspaces = 0;

export interface McpTalks {
  /** Writes `mcp.json` of the home; loaded workspaces reload it. */
  configure(servers: Record<string, unknown>): Promise<void>;
  /** Creates a session in a new workspace, or in the workspace of `beside`. */
  talk(beside?: Talk): Promise<Talk>;
  /** Archives all sessions, which stops their servers. */
  endAll(): Promise<void>;
  servers(): Promise<McpServerRow[]>;
  /** Waits until `GET mcp/servers` reports that status of a server. */
  status(name: string, status: McpServerRow['status']): Promise<McpServerRow>;
  toolNames(talk: Talk): Promise<string[]>;
  /** A new path for the notes that servers write. */
  notes(): string;
}

export function mcpTalks(world: World): McpTalks {
  const ids = new Set<string>();
  let files = 0;
  const servers = async () =>
    z.object({ servers: z.array(mcpServerSchema) }).parse(await world.ok('GET', '/mcp/servers')).servers;
  return {
    async configure(mcpServers) {
      await writeFile(join(world.server.home, 'mcp.json'), JSON.stringify({ mcpServers }));
      await world.server.app.mcpConfig.reload();
    },
    async talk(beside) {
      const cwd = beside?.session.metadata.cwd ?? join(world.project, `w${workspaces++}`);
      await mkdir(cwd, { recursive: true });
      const talk = await startTalk(world, { metadata: { cwd } });
      ids.add(talk.session.id);
      return talk;
    },
    async endAll() {
      await Promise.all([...ids].map((id) => world.ok('POST', `/sessions/${id}:archive`)));
      ids.clear();
    },
    servers,
    async status(name, status) {
      return eventually(async () => {
        const all = await servers();
        const row = all.find((server) => server.name === name);
        if (row?.status !== status) throw new Error(`${name} is not ${status}: ${JSON.stringify(all)}`);
        return row;
      });
    },
    async toolNames({ session }) {
      const data = await world.ok('GET', `/tools?session_id=${session.id}`);
      const { tools } = z.object({ tools: z.array(toolDescriptorSchema) }).parse(data);
      return tools.filter(({ source }) => source === 'mcp').map(({ name }) => name);
    },
    notes: () => join(world.server.home, `notes-${files++}`),
  };
}

const statusSchema = z.object({ server: z.object({ name: z.string(), status: z.string() }) });

/** Each status of a server that a session's events have reported, in order. */
export const serverStatuses = (talk: Talk, name: string): string[] =>
  talk.all('mcp.server.status').flatMap(({ payload }) => {
    const { server } = statusSchema.parse(payload);
    return server.name === name ? [server.status] : [];
  });

export const noted = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');

/** Waits until a server has written `text` to its notes. */
export async function hasNoted(file: string, text: string): Promise<void> {
  await eventually(async () => {
    const all = await noted(file);
    if (!all.includes(text)) throw new Error(`${text} was not noted: ${all}`);
  });
}
