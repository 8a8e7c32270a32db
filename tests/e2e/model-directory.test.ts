/** The model directory of the built server, whose snapshot and thread are part of the output. */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { directoryDuringTest, directoryEntry, documentAnswer, statusAnswer } from '#support/model-directory.ts';
import { spawnServer } from '#support/spawned-server.ts';

const listSchema = z.object({ items: z.array(z.looseObject({ id: z.string() })) });

test('the output alone lists the snapshot, imports from it, and reads a large directory in its thread', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'service-code-output-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await cp(resolve('.output'), folder, { recursive: true, verbatimSymlinks: true });
  const models = Array.from({ length: 100 }, (_, n) => `model-${n}-${'x'.repeat(100)}`);
  const entries = Array.from({ length: 50 }, (_, n) => [`p${n}`, directoryEntry(models)]);
  const served = await directoryDuringTest(statusAnswer(500));
  const env = { SERVICE_CODE_MODEL_DIRECTORY_URL: served.url };
  const server = await spawnServer({ entry: join(folder, 'server/index.mjs'), env });
  onTestFinished(server.close);
  const { items } = listSchema.parse((await server.api('GET', '/catalog/providers')).data);
  expect(items.length).toBeGreaterThan(50);
  const body = { catalog_id: 'anthropic', api_key: 'sk-test' };
  expect((await server.api('POST', '/providers:import_catalog', body)).data).toMatchObject({
    provider: { id: 'anthropic', type: 'anthropic', status: 'connected' },
  });

  served.answer = documentAnswer(Object.fromEntries(entries));
  const other = await spawnServer({ entry: join(folder, 'server/index.mjs'), env });
  onTestFinished(other.close);
  expect(listSchema.parse((await other.api('GET', '/catalog/providers')).data).items).toHaveLength(50);
});
