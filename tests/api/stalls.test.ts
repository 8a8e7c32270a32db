/** Tests the harness itself: it distinguishes a server that blocks the event loop from a test that does. */
import { afterEach, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { defineEndpoint } from '#utils/endpoint.ts';
import { cpuUs } from '#support/stalls.ts';
import { startServer, type TestServerOptions } from '#support/server.ts';

/** Well above the limit, because the profile only samples. */
const BLOCK_MS = 220;

/** Consumes CPU time rather than wall time, so that other load on the machine does not matter. */
function block(ms: number): void {
  const end = cpuUs() + ms * 1000;
  while (cpuUs() < end);
}

const blocking = defineEndpoint({
  summary: 'Blocks',
  data: z.null(),
  handler() {
    block(BLOCK_MS);
    return null;
  },
});
const start = (options: TestServerOptions = {}) =>
  startServer({
    endpoints: [{ route: '/api/v1/block', method: 'get', load: async () => ({ default: blocking }) }],
    ...options,
  });

afterEach(() => vi.unstubAllEnvs());

it('fails the test of a server that blocks the event loop, and names the code', async () => {
  vi.stubEnv('SERVICE_CODE_STALLS', 'fail');
  const server = await start();
  expect(await server.api('GET', '/block')).toMatchObject({ code: 0 });
  await expect(server.close()).rejects.toThrow(
    /blocked the event loop for \d+ ms: .*stalls\.test\.ts.*utils\/endpoint/,
  );
});

it('allows a server to block if the test excuses it', async () => {
  vi.stubEnv('SERVICE_CODE_STALLS', 'fail');
  const server = await start({ mayStall: 'planted' });
  expect(await server.api('GET', '/block')).toMatchObject({ code: 0 });
  await server.close();
});

it('ignores blocking by the test itself', async () => {
  vi.stubEnv('SERVICE_CODE_STALLS', 'fail');
  const server = await start({ endpoints: [] });
  for (let n = 0; n < 3; n += 1) {
    block(BLOCK_MS);
    expect(await server.api('GET', '/block')).toMatchObject({ code: 40400 });
  }
  await server.close();
});
