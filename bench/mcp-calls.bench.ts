/** A call of an MCP tool against the same call of the library alone; at most one and a half times as long. */
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { bench, describe } from 'vitest';
import { connectServer } from '#server/mcp/connect.ts';
import { systemNetwork } from '#server/net/network.ts';
import { discover } from '#server/mcp/discovery.ts';
import { toolResultOf } from '#server/mcp/results.ts';
import { createSchemas } from '#server/mcp/schemas.ts';
import { spawnGroup } from '#server/processes/spawn.ts';

const CALLS = 1000;
const config = {
  transport: 'stdio' as const,
  command: process.execPath,
  args: [join(import.meta.dirname, 'programs', 'mcp-echo.mjs')],
};

const bare = new Client({ name: 'bench', version: '1' });
await bare.connect(new StdioClientTransport(config));
const schemas = createSchemas();
const connection = await connectServer(config, {
  root: process.cwd(),
  env: process.env,
  spawn: spawnGroup,
  fetch,
  network: systemNetwork,
  clientName: 'bench',
  timeoutMs: 30_000,
  roots: async () => [],
});
const { tools } = await discover('bench', connection.tools, config, schemas);
const [tool] = tools;
if (!tool) throw new Error('no tool');

describe(`${CALLS} calls of an echo tool`, () => {
  const args = { text: 'hi' };
  bench('the library alone', async () => {
    for (let n = 0; n < CALLS; n++) await bare.callTool({ name: tool.rawName, arguments: args });
  });
  bench('arguments checked, called, result converted', async () => {
    for (let n = 0; n < CALLS; n++) {
      if ((await schemas.problemOf(tool.schema, args)) !== undefined) throw new Error('it does not fit');
      toolResultOf(tool.name, await connection.callTool(tool.rawName, args, { timeoutMs: 60_000 }));
    }
  });
});
