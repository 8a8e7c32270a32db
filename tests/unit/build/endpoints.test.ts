/** The table that the build generates from the files of a project, and the projects that it refuses. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createNitro } from 'nitropack/core';
import type { NitroConfig } from 'nitropack/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '#support/temporary-directory.ts';
import { endpointsModule } from '../../../build/endpoints.ts';
import { refusedOptionsModule } from '../../../build/refused-options.ts';

const ENDPOINT = 'export default defineEndpoint({});';
const RAW = 'export default defineRawEndpoint({});';
const PLAIN = 'export default defineEventHandler(() => 1);';

let project: string;
beforeEach(async () => {
  project = await temporaryDirectory();
});
afterEach(() => rm(project, { recursive: true, force: true }));

async function build(files: Record<string, string>, config: NitroConfig = {}, dev = false): Promise<string> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(project, name)), { recursive: true });
    await writeFile(join(project, name), text);
  }
  const modules = [refusedOptionsModule, endpointsModule];
  const nitro = await createNitro(
    { preset: 'node', serveStatic: false, imports: false, ...config, rootDir: project, dev, modules },
    { compatibilityDate: '2025-11-01' },
  );
  try {
    const text = nitro.options.virtual['#endpoints'];
    return typeof text === 'function' ? await text() : '';
  } finally {
    await nitro.close();
  }
}

/** The rows of the table: `get /things/:id` for an endpoint, `- get /things` for a plain file. */
async function rows(files: Record<string, string>, config?: NitroConfig, dev?: boolean): Promise<string[]> {
  const text = await build(files, config, dev);
  const endpoints = [...text.matchAll(/\{ route: "(.*)", method: "(.*)", load/g)];
  const plain = [
    ...(/plainRoutes = (.*);/.exec(text)?.[1] ?? '').matchAll(/\{"route":"(.*?)"(?:,"method":"(.*?)")?\}/g),
  ];
  return [
    ...endpoints.map(([, route, method]) => `${method} ${route}`),
    ...plain.map(([, route, method = 'any']) => `- ${method} ${route}`),
  ].toSorted();
}

describe('the table', () => {
  it('lists endpoints and plain files of routes/ and api/, in groups, and handlers of the configuration', async () => {
    const files = {
      'routes/things/[id].get.ts': `import x from 'y';\n\n${ENDPOINT}`,
      'routes/things/index.post.ts': RAW,
      'routes/things/[id]/actions/do.post.ts': 'export default defineFilesEndpoint<A>({});',
      'routes/(group)/hello.ts': PLAIN,
      'routes/all/[...].ts': PLAIN,
      'routes/rest/[...path].get.ts': ENDPOINT,
      'routes/commented.get.ts': `// export default defineEndpoint({})\n/* defineEndpoint( */\n${PLAIN}`,
      'api/hi.head.ts': PLAIN,
      'middleware/log.ts': PLAIN,
      'handlers/own.ts': ENDPOINT,
      'handlers/other.ts': PLAIN,
    };
    const handlers = [
      { route: '/own', method: 'put' as const, handler: '~/handlers/own.ts' },
      { route: '/other', handler: join(project, 'handlers/other') },
    ];
    expect(await rows(files, { handlers })).toEqual(
      [
        'get /things/:id',
        'post /things',
        'post /things/:id/actions/do',
        'get /rest/**:path',
        'put /own',
        '- any /hello',
        '- any /all/**',
        '- get /commented',
        '- head /api/hi',
        '- any /other',
      ].toSorted(),
    );
  });

  it('has the files of its environment', async () => {
    const files = {
      'routes/a.get.dev.ts': ENDPOINT,
      'routes/b.get.prod.ts': PLAIN,
      'routes/c.dev.ts': PLAIN,
      'routes/d.get.ts': PLAIN,
    };
    expect(await rows(files)).toEqual(['- get /b', '- get /d']);
    expect(await rows(files, { preset: 'nitro-dev' }, true)).toEqual(['- any /c', '- get /d', 'get /a']);
  });
});

describe('the build refuses', () => {
  it.each<[string, Record<string, string>, string]>([
    ['an endpoint without a method', { 'routes/x.ts': ENDPOINT }, 'routes/x.ts is an endpoint and needs a method'],
    [
      'an endpoint that is no default export',
      { 'routes/x.get.ts': 'export const x = defineEndpoint({});' },
      'routes/x.get.ts defines an endpoint, which must be its default export',
    ],
    [
      'an endpoint that is exported later',
      { 'api/x.get.ts': 'const x = defineRawEndpoint({});\nexport default x;' },
      'api/x.get.ts defines an endpoint, which must be its default export',
    ],
    [
      'two files of different groups',
      { 'routes/(a)/x.get.ts': PLAIN, 'routes/(b)/x.get.ts': PLAIN },
      'routes/(a)/x.get.ts and routes/(b)/x.get.ts are for the same path and method',
    ],
    [
      'a file and an index',
      { 'routes/x.post.ts': ENDPOINT, 'routes/x/index.post.ts': PLAIN },
      'are for the same path and method',
    ],
    ['a route and a file of api/', { 'routes/api/x.ts': PLAIN, 'api/x.ts': PLAIN }, 'are for the same path and method'],
    [
      'parameters of different names',
      { 'routes/[a].get.ts': ENDPOINT, 'routes/[b].get.ts': PLAIN },
      'are for the same path and method',
    ],
  ])('%s', async (_case, files, message) => {
    await expect(build(files)).rejects.toThrow(message);
  });

  it.each<[string, NitroConfig, string]>([
    [
      'swr',
      { routeRules: { '/things/**': { swr: true } } },
      'The route rule /things/** caches the endpoint /things/:id',
    ],
    ['cache', { routeRules: { '/things/1': { cache: { maxAge: 1 } } } }, 'The route rule /things/1 caches'],
    ['isr', { routeRules: { '/**': { isr: true } } }, 'The route rule /** caches'],
    ['prerendered routes', { prerender: { routes: ['/x'] } }, 'The option prerender'],
    ['a rule that prerenders', { routeRules: { '/x': { prerender: true } } }, 'The route rule prerender of /x'],
    ['serveStatic', { serveStatic: true }, 'The option serveStatic'],
    ['another base', { baseURL: '/base' }, 'The option baseURL'],
    ['a renderer', { renderer: './renderer.ts' }, 'The option renderer'],
    ['presets of other platforms', { preset: 'cloudflare-module' }, 'The preset cloudflare-module'],
    ['presets that start otherwise', { preset: 'node-cluster' }, 'The preset node-cluster'],
  ])('%s', async (_case, config, message) => {
    await expect(build({ 'routes/things/[id].get.ts': ENDPOINT }, config)).rejects.toThrow(message);
  });

  it('no rule that caches plain files alone, and no supported preset', async () => {
    const files = { 'routes/things/[id].get.ts': ENDPOINT, 'routes/plain.get.ts': PLAIN };
    const routeRules = {
      '/plain': { swr: true },
      '/things/a/b': { cache: {} },
      '/things/**': { cache: false as const },
    };
    for (const preset of ['node', 'node-listener', 'node-server'] as const) {
      expect(await rows(files, { routeRules, preset })).toEqual(['- get /plain', 'get /things/:id']);
    }
  });
});
