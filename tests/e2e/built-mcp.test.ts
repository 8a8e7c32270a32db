/** The built server with an MCP server: the library and the schema thread are in the bundle. */
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { makeBuiltHome } from '#support/built-home.ts';
import { spawnServer } from '#support/server.ts';
import { connect } from '#support/ws-client.ts';

test('a turn calls a tool, and arguments that do not fit are refused', async () => {
  const { home, project, model, remove } = await makeBuiltHome();
  const everything = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
  const one = { command: process.execPath, args: [everything] };
  await writeFile(join(home, 'mcp.json'), JSON.stringify({ mcpServers: { one } }));
  const server = await spawnServer({ home });
  try {
    const made = await server.api('POST', '/sessions', { metadata: { cwd: project } });
    const { id } = z.object({ id: z.string() }).parse(made.data);
    const events = await connect(server);
    await events.send({ type: 'subscribe', payload: { session_ids: [id], cursors: { [id]: { seq: 0 } } } });
    const calls = [
      { name: 'mcp__one__echo', args: { message: 'hi' } },
      { name: 'mcp__one__echo', args: { message: 7 } },
    ];
    model.enqueue({ calls });
    model.enqueue({ text: 'Done.' });
    const content = [{ type: 'text', text: 'go' }];
    await server.api('POST', `/sessions/${id}/prompts`, { content, permission_mode: 'yolo' });
    await events.waitFor(({ type }) => type === 'prompt.completed');
    const results = events.durable(id).flatMap(({ type, payload }) => (type === 'tool.result' ? [payload.output] : []));
    expect(results).toContainEqual(expect.stringContaining('hi'));
    expect(results).toContain('Invalid arguments: message: must be string');
    await events.close();
  } finally {
    await server.close();
    await remove();
  }
});
