/** The tools of a server's list that agents are offered. */
import { expect, test } from 'vitest';
import { discover } from '#server/mcp/discovery.ts';
import { TOO_SLOW, type Schemas } from '#server/mcp/schemas.ts';
import { signInTool, toolsOf } from '#server/mcp/server-tools.ts';
import type { McpServerConfig } from '#schema/config/mcp-server.ts';

const config: McpServerConfig = { transport: 'stdio', command: 'server' };
const listed = (server: string, count: number) =>
  Array.from({ length: count }, (_, at) => ({
    name: `${server}-${at}`,
    description: '',
    inputSchema: { type: 'object', title: `${server}-${at}` },
  }));

/** Schemas of a server called `slow` take too long; records the checked schemas, in order. */
function fakeSchemas() {
  const asked: string[] = [];
  const schemas: Schemas = {
    async check(schema) {
      const text = JSON.stringify(schema);
      asked.push(/"title":"(.+?)"/.exec(text)?.[1] ?? '');
      await Promise.resolve();
      return text.includes('slow') ? { problem: TOO_SLOW } : { parameters: {}, text, hash: text };
    },
    problemOf: () => Promise.resolve(undefined),
    close: () => Promise.resolve(),
  };
  return { asked, schemas };
}

test('after a few slow schemas of a server the remaining ones are not checked', async () => {
  const { asked, schemas } = fakeSchemas();
  const { tools, dropped } = await discover('s', [...listed('good', 2), ...listed('slow', 9)], config, schemas);
  expect(asked).toEqual(['good-0', 'good-1', 'slow-0', 'slow-1', 'slow-2']);
  expect(tools.map(({ rawName }) => rawName)).toEqual(['good-0', 'good-1']);
  expect(dropped).toHaveLength(9);
  expect(dropped.at(-1)).toEqual({ tool: 'slow-8', problem: 'other schemas of the server took too long' });
});

test('schemas of several servers are checked in turn', async () => {
  const { asked, schemas } = fakeSchemas();
  await Promise.all(['a', 'b'].map((server) => discover(server, listed(server, 3), config, schemas)));
  expect(asked).toEqual(['a-0', 'b-0', 'a-1', 'b-1', 'a-2', 'b-2']);
});

test('the effects of a server tool are unknown: permissions decide each call', async () => {
  const { schemas } = fakeSchemas();
  const run = async () => ({ output: '' });
  const tools = toolsOf(await discover('s', listed('good', 2), config, schemas), schemas, run);
  expect([...tools, signInTool('s', run)].map(({ effects }) => effects)).toEqual(['any', 'any', 'any']);
});
