// A refresh of twenty registries with 300 models each, of which none has changed: CPU, and no write of the file.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '../client.mjs';
import { cpuMs, makeHome, startBuilt } from '../processes.mjs';

const REGISTRIES = 20;
const MODELS = 300;

const documentOf = (id) => {
  const models = Array.from({ length: MODELS }, (_, n) => [
    `model-${n}`,
    {
      id: `model-${n}`,
      name: `Model ${n} of ${id}`,
      tool_call: true,
      reasoning: n % 2 === 0,
      limit: { context: 100_000 + n, output: 8192 },
      modalities: { input: ['text', 'image'], output: ['text'] },
      cost: { input: 1, output: 5, cache_read: 0.1 },
    },
  ]);
  const entry = { id, name: id, api: 'http://127.0.0.1:9/v1', type: 'openai', models: Object.fromEntries(models) };
  return JSON.stringify({ [id]: entry });
};

/** A server with a registry at each path. */
async function startRegistries() {
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(documentOf(request.url.slice(1)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

export async function measureRefresh({ builds: [directory], model, quick, report }) {
  const { home, remove } = await makeHome(model.url);
  const registries = await startRegistries();
  const server = await startBuilt(directory, { home });
  const client = createClient(server);
  const file = join(home, 'config.toml');
  try {
    for (let n = 0; n < REGISTRIES; n += 1) {
      await client.api('POST', '/providers:import_registry', { url: `${registries.url}/registry-${n}` });
    }
    const { mtimeMs } = await stat(file);
    const used = [];
    for (let n = 0; n < (quick ? 5 : 20); n += 1) {
      const begun = cpuMs(server.pid);
      const { unchanged } = await client.api('POST', '/providers:refresh');
      used.push(cpuMs(server.pid) - begun);
      if (unchanged.length !== REGISTRIES + 1) throw new Error(`only ${unchanged.length} providers are unchanged`);
    }
    if ((await stat(file)).mtimeMs !== mtimeMs) throw new Error('the configuration was written');
    report.line({
      name: `refresh of ${REGISTRIES} × ${MODELS} unchanged models: CPU`,
      unit: 'ms',
      now: used,
      aim: { most: 100 },
    });
  } finally {
    client.close();
    await server.stop();
    registries.close();
    remove();
  }
}
