import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { startServer } from '#support/server.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';
import type { TestServer } from '#support/server.ts';

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  if (server) await rm(server.home, { recursive: true, force: true });
  server = undefined;
});

/** `providers.test.ts` covers the states of the managed login. */
it.each([
  ['nothing', '', false, 0],
  ['a default without a record', 'default_model = "m"\n[providers.p]\n', false, 1],
  ['a default whose provider is missing', 'default_model = "m"\n[models.m]\nprovider = "gone"\n', false, 0],
  ['a flat default', 'default_model = " m "\n[models.m]\nbase_url = "http://h"\n', true, 0],
  ['a flat default without address', 'default_model = "m"\n[models.m]\nmodel = "x"\n', false, 0],
  [
    'the default provider',
    'default_model = "m"\ndefault_provider = "p"\n[models.m]\n[providers.p]\ntype = "openai"\n',
    true,
    1,
  ],
])('models_ready with %s', async (_case, file, ready, count) => {
  const home = await temporaryDirectory();
  await writeFile(join(home, 'config.toml'), file);
  server = await startServer({ home, env: () => ({}) });
  const { data } = await server.api('GET', '/auth');
  expect(data).toEqual({ models_ready: ready, providers_count: count, managed_provider: null });
});
