/**
 * The public API, stored in two files next to the tests: a change of the API changes these files, which is reviewed.
 * Update them with `npx vitest run --project api tests/api/documents.test.ts -u`.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { startServer, type TestServer } from '#support/server.ts';

let server: TestServer;
beforeAll(async () => (server = await startServer()));
afterAll(() => server.close());

const documentSchema = z.looseObject({ info: z.looseObject({ version: z.string() }) });

async function document(path: string): Promise<string> {
  const parsed = documentSchema.parse(await (await server.fetch(path)).json());
  return `${JSON.stringify({ ...parsed, info: { ...parsed.info, version: '<version>' } }, null, 2)}\n`;
}

it('REST: /openapi.json', async () => {
  await expect(await document('/openapi.json')).toMatchFileSnapshot('golden/openapi.json');
});

it('WebSocket: /asyncapi.json', async () => {
  await expect(await document('/asyncapi.json')).toMatchFileSnapshot('golden/asyncapi.json');
});
