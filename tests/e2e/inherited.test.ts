/** What programs that the built server starts inherit of it: no descriptor beyond the standard ones. */
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { makeBuiltHome, type BuiltHome } from '#support/built-home.ts';
import { spawnServer, type SpawnedServer } from '#support/server.ts';
import { connect, type WsClient } from '#support/ws-client.ts';

let base: BuiltHome;
let server: SpawnedServer;
let events: WsClient;
let session: string;
afterEach(async () => {
  await events.close();
  await server.close();
  await base.remove();
});

/** A server that inherited the file of a wrapper's lock, with a gap before its number, and a session of it. */
async function start(): Promise<void> {
  base = await makeBuiltHome();
  const everything = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
  const one = { command: process.execPath, args: [everything] };
  await writeFile(join(base.home, 'mcp.json'), JSON.stringify({ mcpServers: { one } }));
  const lock = join(base.root, 'lock');
  await writeFile(lock, 'of the wrapper');
  server = await spawnServer({ home: base.home, prelude: `exec 251<'${lock}' 77>>'${lock}'` });
  const made = await server.api('POST', '/sessions', { metadata: { cwd: base.project } });
  session = z.object({ id: z.string() }).parse(made.data).id;
  events = await connect(server);
  await events.send({ type: 'subscribe', payload: { session_ids: [session], cursors: { [session]: { seq: 0 } } } });
}

/** Results of the calls of one turn, which all run. */
async function run(...calls: { name: string; args: unknown }[]): Promise<unknown[]> {
  base.model.enqueue({ calls });
  base.model.enqueue({ text: 'Done.' });
  const content = [{ type: 'text', text: 'go' }];
  await server.api('POST', `/sessions/${session}/prompts`, { content, permission_mode: 'yolo' });
  await events.waitFor(({ type }) => type === 'prompt.completed');
  return events.durable(session).flatMap(({ type, payload }) => (type === 'tool.result' ? [payload.output] : []));
}

/** Prints where each descriptor of a shell leads, and that it can still write to its standard ones. */
const LIST = 'for fd in /proc/self/fd/*; do readlink "$fd"; done; echo "to stdout"; echo "to stderr" >&2';

test('commands have none of those that the server inherited, which keeps them open; their own streams work', async () => {
  await start();
  const [listed, own] = await run(
    { name: 'Bash', args: { command: LIST, description: 'List descriptors' } },
    {
      name: 'Bash',
      args: { command: 'readlink /proc/$PPID/fd/251 /proc/$PPID/fd/77', description: 'Descriptors of the server' },
    },
  );
  expect(listed).toContain('to stdout');
  expect(listed).toContain('to stderr');
  expect(listed).not.toContain('lock');
  // Whoever started the server may hold a lock through it.
  expect(own).toContain(`${join(base.root, 'lock')}\n${join(base.root, 'lock')}`);
});

test('programs of MCP servers talk through their pipes, and have none of those', async () => {
  await start();
  const [, echoed, listed] = await run(
    { name: 'Bash', args: { command: 'true', description: 'Nothing' } },
    { name: 'mcp__one__echo', args: { message: 'hi' } },
    {
      name: 'Bash',
      args: {
        command: 'for p in $(pgrep -P $PPID -f server-everything); do ls -l /proc/$p/fd; done',
        description: 'Descriptors of the MCP server',
      },
    },
  );
  expect(echoed).toContain('hi');
  expect(listed).toContain('pipe:');
  expect(listed).not.toContain('lock');
});
