/** The built server with lazily loaded libraries: MCP with its schema thread, and image processing. */
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { makeBuiltHome } from '#support/built-home.ts';
import { blankPng } from '#support/images.ts';
import { spawnServer } from '#support/spawned-server.ts';
import { connect } from '#support/ws-client.ts';

test('a turn calls MCP and reads images, and invalid arguments are refused', async () => {
  const { home, project, model, remove } = await makeBuiltHome({ capabilities: ['tool_use', 'image_in'] });
  const everything = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
  const one = { command: process.execPath, args: [everything] };
  await writeFile(join(home, 'mcp.json'), JSON.stringify({ mcpServers: { one } }));
  const large = blankPng(3000, 400);
  await writeFile(join(project, 'large.png'), large);
  const server = await spawnServer({ home });
  try {
    const made = await server.api('POST', '/sessions', { metadata: { cwd: project } });
    const { id } = z.object({ id: z.string() }).parse(made.data);
    const events = await connect(server);
    await events.send({ type: 'subscribe', payload: { session_ids: [id], cursors: { [id]: { seq: 0 } } } });
    const calls = [
      { name: 'mcp__one__echo', args: { message: 'hi' } },
      { name: 'mcp__one__echo', args: { message: 7 } },
      { name: 'ReadMediaFile', args: { path: 'large.png' } },
    ];
    model.enqueue({ calls });
    model.enqueue({ text: 'Done.' });
    const content = [
      { type: 'text', text: 'go' },
      { type: 'image', source: { kind: 'base64', media_type: 'image/png', data: large.toString('base64') } },
    ];
    await server.api('POST', `/sessions/${id}/prompts`, { content, permission_mode: 'yolo' });
    await events.waitFor(({ type }) => type === 'prompt.completed');
    const results = events.durable(id).flatMap(({ type, payload }) => (type === 'tool.result' ? [payload.output] : []));
    expect(results).toContainEqual(expect.stringContaining('hi'));
    expect(results).toContain('Invalid arguments: message: must be string');
    const sent = JSON.stringify(model.requests.at(-1)?.body);
    const images = [...sent.matchAll(/data:image\/png;base64,([A-Za-z0-9+/=]+)/g)];
    const widths = images.map(([, data = '']) => Buffer.from(data, 'base64').readUInt32BE(16));
    expect(widths).toEqual([2000, 2000]);
    await events.close();
  } finally {
    await server.close();
    await remove();
  }
});
