/** A client for one server whose name is resolved a single time. */
import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { createServerClient } from '#server/net/pinned-client.ts';

async function startHost() {
  const paths: string[] = [];
  const host = createServer((request, response) => {
    paths.push(request.url ?? '');
    response.end('{}');
  });
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    host.closeAllConnections();
    host.close();
  });
  const { port } = z.object({ port: z.number() }).parse(host.address());
  return { paths, url: new URL(`http://mcp.example:${port}/mcp`) };
}

const unpinned = async () => expect.unreachable();

it('requests the addresses of the first resolution until it is closed', async () => {
  const { paths, url } = await startHost();
  let asked = 0;
  const network = { resolve: async () => [`127.0.0.${(asked += 1)}`] };
  const client = createServerClient(url, unpinned, network);
  for (const path of ['/a', '/b']) expect((await client.fetch(new URL(path, url))).status).toBe(200);
  await client.close();
  expect([asked, paths]).toEqual([1, ['/a', '/b']]);
  await expect(client.fetch(url)).rejects.toThrow('closed');
  expect(asked).toBe(1);
});

it('sends no request when it is closed while the name is being resolved', async () => {
  const { paths, url } = await startHost();
  let answer: ((addresses: string[]) => void) | undefined;
  const network = { resolve: () => new Promise<string[]>((resolve) => (answer = resolve)) };
  const client = createServerClient(url, unpinned, network);
  const requested = client.fetch(url).catch((error: unknown) => error);
  await client.close();
  answer?.(['127.0.0.1']);
  expect(String(await requested)).toContain('closed');
  expect(paths).toEqual([]);
});
