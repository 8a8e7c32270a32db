/** Messages that nest deeper than 200 levels: the call is answered, without the deeper values. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { json } from 'node:stream/consumers';
import { resolve } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { connectServer, type McpConnection } from '#server/mcp/connect.ts';
import { toolResultOf } from '#server/mcp/results.ts';
import { createHttpClient } from '#server/net/http-client.ts';
import { systemNetwork } from '#server/net/network.ts';
import { spawnGroup } from '#server/processes/spawn.ts';
import type { McpServerConfig } from '#schema/config/mcp-server.ts';

const HOSTILE = resolve('tests/support/hostile-mcp-server.mjs');

const http = createHttpClient();
afterAll(() => http.close());

async function open(config: McpServerConfig): Promise<McpConnection> {
  const connection = await connectServer(config, {
    root: process.cwd(),
    env: process.env,
    spawn: spawnGroup,
    fetch: http.fetch,
    network: systemNetwork,
    clientName: 'tester',
    timeoutMs: 15_000,
    roots: async () => [],
  });
  onTestFinished(() => connection.close());
  return connection;
}

/** JSON text of a result with this number of levels in `deep`, two below the result's own. */
function resultText(levels: number): string {
  const structured = `{"deep":${'['.repeat(levels)}${']'.repeat(levels)},"flat":"[[["}`;
  return `{"content":[],"structuredContent":${structured}}`;
}

const requestSchema = z.looseObject({
  id: z.number().optional(),
  method: z.string(),
  params: z.looseObject({ arguments: z.object({ text: z.string() }).optional() }).optional(),
});

function resultOf({ method, params }: z.infer<typeof requestSchema>): string {
  if (method === 'initialize') {
    const serverInfo = { name: 'deep', version: '1' };
    return JSON.stringify({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo });
  }
  if (method === 'tools/list') return JSON.stringify({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] });
  if (method === 'ping') return '{}';
  return resultText(Number(params?.arguments?.text.slice('nested:'.length)));
}

/** A remote server whose responses are JSON bodies, or streams of one event. */
async function remote(events: boolean): Promise<string> {
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const message = requestSchema.parse(await json(request));
    if (message.id === undefined) return void response.writeHead(202).end();
    const text = `{"jsonrpc":"2.0","id":${message.id},"result":${resultOf(message)}}`;
    response.writeHead(200, { 'content-type': events ? 'text/event-stream' : 'application/json' });
    // A comment with a quote, and a message in two lines of data, are valid.
    response.end(events ? `: "\nid: 7\nevent: message\ndata: {\ndata: ${text.slice(1)}\n\n` : text);
  }
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/mcp`;
}

const configs: [string, () => Promise<McpServerConfig>][] = [
  ['a program', async () => ({ transport: 'stdio', command: process.execPath, args: [HOSTILE] })],
  ['JSON over HTTP', async () => ({ transport: 'http', url: await remote(false) })],
  ['events over HTTP', async () => ({ transport: 'http', url: await remote(true) })],
];

test.each(configs)('from %s', async (_from, config) => {
  const connection = await open(await config());
  const called = async (levels: number) => {
    const result = await connection.callTool('echo', { text: `nested:${levels}` }, { timeoutMs: 10_000 });
    return toolResultOf('mcp__deep__echo', result).output;
  };
  const shown = (levels: number, inner: string) =>
    `<mcp-structured-result>\n{"structuredContent":{"deep":${'['.repeat(levels)}${inner}${']'.repeat(levels)},"flat":"[[["}}\n</mcp-structured-result>`;
  // The message, its result and the structured content are three levels.
  expect(await called(197)).toBe(shown(197, ''));
  expect(await called(198)).toBe(shown(197, '"…"'));
  expect(await called(100_000)).toBe(shown(197, '"…"'));
  expect(await connection.alive()).toBe(true);
});
