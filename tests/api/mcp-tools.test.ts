/** MCP servers over stdio in sessions: tools in turns, events, records, `GET tools`, `GET mcp/servers`. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { callThenText, startTalk } from '#support/talk.ts';
import { startWorld, type World, type WorldOptions } from '#support/world.ts';

const HOSTILE = resolve('tests/support/hostile-mcp-server.mjs');

let world: World;
afterEach(() => world.close());

const open = async (options: WorldOptions = {}) => {
  world = await startWorld({ config: { default_permission_mode: 'yolo' }, ...options });
  return world;
};

const hostile = (modes = '', file = '') => ({ command: process.execPath, args: [HOSTILE, modes, file] });

async function configure(servers: Record<string, unknown>): Promise<void> {
  const path = join(world.server.home, 'mcp.json');
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, JSON.stringify({ mcpServers: servers }));
}

test('a tool of a server runs in the first turn, and clients are told of the server', async () => {
  await open();
  await configure({ one: hostile() });
  const talk = await startTalk(world);
  const { results } = await talk.turn('go', callThenText('mcp__one__echo', { text: 'hi' }));
  expect(results).toEqual([expect.objectContaining({ output: 'echo: hi', isError: false })]);
});
