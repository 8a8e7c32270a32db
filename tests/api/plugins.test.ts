/** Plugins over REST. */
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { eventually } from '#support/patience.ts';
import { startServer, type TestServer, type TestServerOptions } from '#support/server.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';
import { serveDuringTest, zipOf } from '#support/zips.ts';

const folder = useTemporaryFolder();

async function open(options: TestServerOptions = {}): Promise<TestServer> {
  const server = await startServer(options);
  onTestFinished(() => server.close());
  return server;
}

/** Writes the files of a plugin; returns its directory. */
async function plugin(name: string, files: Record<string, string> = {}, manifest: object = {}): Promise<string> {
  const root = join(folder.path, `source-${name}`);
  const all = { 'service.plugin.json': JSON.stringify({ name, ...manifest }), ...files };
  for (const [path, content] of Object.entries(all)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  return root;
}

const listSchema = z.object({ plugins: z.array(z.looseObject({ id: z.string() })) });
const listed = async (server: TestServer) => listSchema.parse((await server.api('GET', '/plugins')).data).plugins;
const install = (server: TestServer, source: string) => server.api('POST', '/plugins', { source });
const registry = async (server: TestServer): Promise<unknown> =>
  JSON.parse(await readFile(join(server.home, 'plugins', 'installed.json'), 'utf8'));

it('installs a directory, disables, enables and removes it; the copy stays', async () => {
  const server = await open();
  expect(await listed(server)).toEqual([]);
  const root = await plugin(
    'tools',
    { 'bin/run.sh': '#!/bin/sh\n' },
    {
      version: ' 1.2.0 ',
      interface: { displayName: 'Tools' },
      hooks: [{ event: 'Stop', command: 'true' }, { event: 'Never' }],
      mcpServers: { one: { command: 'node' }, two: { command: './bin/run.sh', enabled: false }, bad: {} },
    },
  );
  const summary = {
    id: 'tools',
    displayName: 'Tools',
    version: '1.2.0',
    enabled: true,
    state: 'ok',
    skillCount: 0,
    mcpServerCount: 2,
    enabledMcpServerCount: 1,
    hookCount: 1,
    commandCount: 0,
    hasErrors: false,
    source: 'local-path',
    originalSource: root,
  };
  expect(await install(server, ` ${root} `)).toMatchObject({ code: 0, data: summary });
  expect(await listed(server)).toEqual([summary]);
  expect(await registry(server)).toEqual({
    version: 1,
    plugins: [
      {
        id: 'tools',
        root: join(server.home, 'plugins', 'managed', 'tools'),
        source: 'local-path',
        enabled: true,
        installedAt: expect.any(String),
        originalSource: root,
      },
    ],
  });
  expect(await server.api('POST', '/plugins/TOOLS:disable')).toMatchObject({ code: 0, data: { ok: true } });
  expect(await listed(server)).toEqual([{ ...summary, enabled: false }]);
  expect(await install(server, root)).toMatchObject({ code: 0, data: { enabled: false } });
  expect((await server.api('POST', '/plugins/tools:enable')).data).toEqual({ ok: true });
  expect((await server.api('POST', '/plugins/tools:remove')).data).toEqual({ ok: true });
  expect(await listed(server)).toEqual([]);
  expect(await readdir(join(server.home, 'plugins', 'managed'))).toEqual(['tools']);
  expect(await server.api('POST', '/plugins/Tools:remove')).toMatchObject({
    code: 40419,
    msg: 'Plugin "Tools" is not installed',
  });
});

it('checks the action before the plugin', async () => {
  const server = await open();
  for (const tail of ['nope:explode', 'nope:', 'nope']) {
    const answer = await server.api('POST', `/plugins/${tail}`);
    expect(answer).toMatchObject({ code: 40001, msg: `unsupported action: ${tail}` });
  }
  expect(await server.api('POST', '/plugins/a%3Ab:enable')).toMatchObject({
    code: 40419,
    msg: 'Plugin "a:b" is not installed',
  });
});

it.each([
  ['', 40001, /^source: /],
  ['  ', 40001, /^source: /],
  ['tools', 40001, /^Plugin root must be an absolute path \(got "tools"\)$/],
  ['~/tools', 40001, /^Plugin root must be an absolute path \(got "~\/tools"\)$/],
  ['file:///tmp', 40001, /^Plugin root must be an absolute path/],
  ['/no/such/folder', 40409, /^Plugin root does not exist: \/no\/such\/folder$/],
  ['/etc/passwd', 40001, /^Plugin root is not a directory: \/etc\/passwd$/],
  ['/etc/passwd/x', 40409, /^Plugin root does not exist/],
  ['https://', 40001, /^Invalid URL/],
])('refuses the source %j with %i', async (source, code, msg) => {
  const server = await open();
  expect(await install(server, source)).toMatchObject({ code, msg: expect.stringMatching(msg), data: null });
  expect(await readdir(server.home)).not.toContain('installed.json');
});

it('installs a served archive and publishes one event for each change', async () => {
  const server = await open();
  const url = await serveDuringTest({
    '/a.zip': await zipOf({ 'top/service.plugin.json': '{"name":"zipped"}', 'README.md': 'x' }),
  });
  const events: string[] = [];
  server.app.plugins.onChange(({ action }) => void events.push(action));
  expect(await install(server, `${url}/a.zip`)).toMatchObject({
    code: 0,
    data: { id: 'zipped', source: 'zip-url', originalSource: `${url}/a.zip` },
  });
  expect(await server.api('POST', '/plugins/zipped:enable')).toMatchObject({ code: 0 });
  await server.api('POST', '/plugins/zipped:remove');
  expect(events).toEqual(['install', 'enable', 'remove']);
  const lines = (await readFile(join(server.home, 'events', 'global.ndjson'), 'utf8')).split('\n').filter(Boolean);
  expect(lines.filter((line) => line.includes('"event.plugin.changed"'))).toHaveLength(3);
  expect(await install(server, `${url}/b.zip`)).toMatchObject({
    code: 40001,
    msg: 'Failed to download zip: HTTP 404 Not Found',
  });
});

it('reports a registry that cannot be read, by the codes of each endpoint, until it is fixed', async () => {
  const server = await open();
  await install(server, await plugin('kept'));
  const path = join(server.home, 'plugins', 'installed.json');
  const good = await readFile(path, 'utf8');
  await writeFile(path, '{"version": 2, "plugins": []}');
  const msg = `Plugin state failed to load: ${path}: version 2 is newer than this server supports`;
  await eventually(async () => expect(await server.api('GET', '/plugins')).toMatchObject({ code: 50001, msg }));
  expect(await server.api('GET', '/plugins/marketplace')).toMatchObject({ code: 50001, msg });
  expect(await server.api('POST', '/plugins/kept:enable')).toMatchObject({ code: 40001, msg });
  expect(await install(server, await plugin('other'))).toMatchObject({ code: 40001, msg });
  expect(server.app.plugins.enabled()).toEqual([]);
  expect(server.app.plugins.problems()).toEqual([expect.objectContaining({ severity: 'error', path })]);
  await writeFile(path, good);
  await eventually(async () => expect(await listed(server)).toMatchObject([{ id: 'kept' }]));
});

it('has no catalog, unless one is configured', async () => {
  const env: NodeJS.ProcessEnv = { ...process.env };
  delete env.SERVICE_CODE_PLUGIN_MARKETPLACE_URL;
  const server = await open({ env: () => env });
  expect(await server.api('GET', '/plugins/marketplace')).toMatchObject({
    code: 50001,
    msg: 'Plugin marketplace is unreachable: no catalog is configured',
  });
  await install(server, await plugin('mine', {}, { version: '1.0.0' }));
  const catalog = join(folder.path, 'catalog.json');
  await writeFile(
    catalog,
    JSON.stringify({ plugins: [{ id: 'mine', source: './source-mine', version: '1.0.1', tier: 'curated' }] }),
  );
  env.SERVICE_CODE_PLUGIN_MARKETPLACE_URL = catalog;
  expect(await server.api('GET', '/plugins/marketplace')).toMatchObject({
    code: 0,
    data: {
      entries: [
        {
          id: 'mine',
          tier: 'curated',
          displayName: 'mine',
          version: '1.0.1',
          source: join(folder.path, 'source-mine'),
          installed: { enabled: true, version: '1.0.0' },
          updateAvailable: true,
        },
      ],
    },
  });
});

it('answers with an error and leaves no files when the copy cannot be stored', async () => {
  const server = await open();
  await mkdir(join(server.home, 'plugins'));
  await writeFile(join(server.home, 'plugins', 'managed'), 'a file');
  expect(await install(server, await plugin('any'))).toMatchObject({ code: 50001 });
  await chmod(join(server.home, 'plugins'), 0o700);
  expect(await listed(server)).toEqual([]);
});

it('installs a repository at the commit of its latest release, and knows of it afterwards', async () => {
  const sha = 'a'.repeat(40);
  const manifest = JSON.stringify({ name: 'tools', version: '1.0.0', commands: './commands' });
  const archive = await zipOf({
    [`tools-${sha}/service.plugin.json`]: manifest,
    [`tools-${sha}/commands/go.md`]: 'Go on.',
  });
  const replies: Record<string, () => Response> = {
    'https://github.com/acme/tools/releases/latest': () =>
      new Response(null, { status: 302, headers: { location: 'https://github.com/acme/tools/releases/tag/v1.0.0' } }),
    'https://api.github.com/repos/acme/tools/commits/v1.0.0': () => new Response(sha),
    [`https://github.com/acme/tools/archive/${sha}.zip`]: () => new Response(new Uint8Array(archive)),
  };
  const requested: string[] = [];
  const server = await open({
    pluginFetch: async (url) => {
      requested.push(String(url));
      return replies[String(url)]?.() ?? new Response('not here', { status: 404 });
    },
  });
  const summary = {
    id: 'tools',
    version: '1.0.0',
    commandCount: 1,
    source: 'github',
    originalSource: 'https://github.com/acme/tools',
    github: { owner: 'acme', repo: 'tools', ref: { kind: 'tag', value: 'v1.0.0' }, installedSha: sha },
  };
  expect(await install(server, 'https://github.com/acme/tools')).toMatchObject({ code: 0, data: summary });
  expect(requested).toEqual(Object.keys(replies));
  expect(await listed(server)).toMatchObject([summary]);
  expect(await install(server, 'https://github.com/acme/missing')).toMatchObject({ code: 40001 });
});
