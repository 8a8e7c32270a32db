import { cp, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Fetch } from '#server/net/http-client.ts';
import { createPluginsWriter, managedFolder, managedRoot } from '#server/plugins/plugins-writer.ts';
import { registryFile } from '#server/plugins/registry.ts';
import { pluginTimes } from '#server/plugins/plugins.ts';
import { createChangeLock } from '#server/storage/change-lock.ts';
import { leaseHolder } from '#support/lease-holder.ts';
import { usePlugins, writeFiles } from '#support/plugins.ts';
import { eventually } from '#support/patience.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';
import { serveDuringTest, zipOf } from '#support/zips.ts';

const folder = useTemporaryFolder();
let home: string;
beforeEach(async () => {
  home = join(folder.path, 'home');
  await mkdir(home);
});

const SHA = '0123456789abcdef0123456789abcdef01234567';

/** Writes the source of a plugin; returns its directory. */
const source = (name: string, files: Record<string, unknown> = {}, manifest: object = {}) =>
  writeFiles(join(folder.path, `source-${name}`), { 'service.plugin.json': { name, ...manifest }, ...files });

const managed = () => readdir(managedFolder(home));
const installedFile = (id: string, path: string) => readFile(join(managedRoot(home, id), path), 'utf8');
const rows = async (): Promise<Record<string, unknown>[]> =>
  (JSON.parse(await readFile(registryFile(home), 'utf8')) as { plugins: Record<string, unknown>[] }).plugins;

describe('a reinstall', () => {
  it('replaces the whole copy, and keeps the switches and the time of the first install', async () => {
    const { plugins } = usePlugins(home);
    await plugins.install(
      await source('one', { old: 'x' }, { mcpServers: { s: { command: 'a' }, t: { command: 'b' } } }),
    );
    await plugins.install(await source('two'));
    await plugins.act('one', 'disable');
    const [before] = await rows();
    const switched = { ...before, capabilities: { mcpServers: { s: { enabled: false } } } };
    await writeFile(registryFile(home), JSON.stringify({ version: 1, plugins: [switched, (await rows())[1]] }));

    const root = await source('one', { new: 'y' }, { version: '2' });
    await rm(join(root, 'old'));
    await writeFiles(root, {
      'service.plugin.json': { name: 'one', mcpServers: { s: { command: 'a' }, t: { command: 'b' } } },
    });
    expect(await plugins.install(root)).toMatchObject({ enabled: false, mcpServerCount: 2, enabledMcpServerCount: 1 });
    expect((await readdir(managedRoot(home, 'one'))).toSorted()).toEqual(['new', 'service.plugin.json']);
    expect(await rows()).toEqual([
      { ...switched, updatedAt: expect.any(String) },
      expect.objectContaining({ id: 'two' }),
    ]);
    expect((await managed()).toSorted()).toEqual(['one', 'two']);
  });

  it('replaces a plugin that was installed from elsewhere, by the id of its manifest', async () => {
    const { plugins } = usePlugins(home);
    await plugins.install(await source('same'));
    const url = await serveDuringTest({
      '/a.zip': await zipOf({ 'service.plugin.json': '{"name":"same","version":"9"}' }),
    });
    expect(await plugins.install(`${url}/a.zip`)).toMatchObject({ id: 'same', version: '9', source: 'zip-url' });
    expect(await rows()).toMatchObject([{ id: 'same', source: 'zip-url', originalSource: `${url}/a.zip` }]);
  });

  it('that fails leaves copy, row and events unchanged', async () => {
    const { plugins, changes } = usePlugins(home);
    const root = await source('one', { kept: 'old' });
    await plugins.install(root);
    const before = await rows();
    await writeFiles(root, { kept: 'new', 'service.plugin.json': '{' });
    await expect(plugins.install(root)).rejects.toMatchObject({
      name: 'validation.failed',
      message: expect.stringMatching(new RegExp(`^Cannot install plugin at ${root}: the manifest is not valid JSON`)),
    });
    expect(await rows()).toEqual(before);
    expect(await installedFile('one', 'kept')).toBe('old');
    expect(await managed()).toEqual(['one']);
    expect(changes).toEqual(['install', 'event']);
  });

  it('restores the copy before if the registry cannot be written', async () => {
    const failing = {
      ...createPluginsWriter(home),
      writeRegistry: () => Promise.reject(new Error('ENOSPC: disk full')),
    };
    const lock = (writer: ReturnType<typeof createPluginsWriter>) =>
      createChangeLock({ path: join(home, 'plugins', 'installed.json.lock'), holder: leaseHolder(), writer });
    const first = usePlugins(home);
    const root = await source('one', { kept: 'old' });
    await first.plugins.install(root);
    await writeFiles(root, { kept: 'new' });
    const { plugins } = usePlugins(home, 'server_1', { lock: lock(failing) });
    await expect(plugins.install(root)).rejects.toMatchObject({ name: 'internal.error', message: 'ENOSPC: disk full' });
    await expect(plugins.install(await source('two'))).rejects.toMatchObject({ name: 'internal.error' });
    await expect(plugins.act('one', 'disable')).rejects.toMatchObject({ name: 'internal.error' });
    expect(await managed()).toEqual(['one']);
    expect(await installedFile('one', 'kept')).toBe('old');
    expect(await plugins.list()).toMatchObject([{ id: 'one', enabled: true }]);
  });

  it('of a removed plugin replaces the copy that stayed and forgets its switches', async () => {
    const { plugins } = usePlugins(home);
    const root = await source('one', { old: '' });
    await plugins.install(root);
    await plugins.act('one', 'disable');
    await plugins.act('one', 'remove');
    expect(await managed()).toEqual(['one']);
    await rm(join(root, 'old'));
    expect(await plugins.install(root)).toMatchObject({ enabled: true });
    expect(await readdir(managedRoot(home, 'one'))).toEqual(['service.plugin.json']);
    expect((await rows())[0]).not.toHaveProperty('updatedAt');
  });
});

describe('a manifest', () => {
  it('with other errors is stored, and the plugin contributes nothing', async () => {
    const { plugins } = usePlugins(home);
    const root = await source('wrong', {}, { skills: 7, hooks: [{ event: 'Stop', command: 'true' }] });
    expect(await plugins.install(root)).toMatchObject({ state: 'error', hasErrors: true, enabled: true, hookCount: 1 });
    expect(plugins.enabled()).toEqual([]);
    expect(plugins.problems()).toEqual([
      {
        severity: 'error',
        message: '"skills" must be a path or a list of paths',
        path: join(managedRoot(home, 'wrong'), 'service.plugin.json'),
      },
    ]);
    await plugins.act('wrong', 'disable');
    expect(plugins.problems()).toEqual([]);
    expect(await plugins.installed()).toMatchObject([{ id: 'wrong', hasErrors: true }]);
  });

  it('that is missing later is an error of the plugin', async () => {
    const { plugins } = usePlugins(home);
    await plugins.install(await source('gone'));
    await rm(managedRoot(home, 'gone'), { recursive: true });
    await plugins.act('gone', 'enable');
    expect(await plugins.list()).toMatchObject([{ id: 'gone', displayName: 'gone', state: 'error', hasErrors: true }]);
    expect(plugins.enabled()).toEqual([]);
  });

  it('of an archive is named with the source', async () => {
    const url = await serveDuringTest({
      '/a.zip': await zipOf({ 'one/x': '', 'two/service.plugin.json': '{"name":"a"}' }),
    });
    await expect(usePlugins(home).plugins.install(`${url}/a.zip`)).rejects.toThrow(
      `Cannot install plugin from ${url}/a.zip: the manifest is missing`,
    );
    expect(await managed()).toEqual([]);
  });
});

describe('a directory', () => {
  it('may be a link; the path that was sent is recorded', async () => {
    const root = await source('one');
    const link = join(folder.path, 'link');
    await symlink(root, link);
    expect(await usePlugins(home).plugins.install(link)).toMatchObject({ originalSource: link });
  });

  it('must neither contain the home nor be part of it', async () => {
    const { plugins } = usePlugins(home);
    await writeFiles(folder.path, { 'service.plugin.json': { name: 'outer' } });
    await writeFiles(home, { 'inner/service.plugin.json': { name: 'inner' }, 'service.plugin.json': { name: 'same' } });
    const link = join(folder.path, 'link');
    await symlink(join(home, 'inner'), link);
    for (const path of [folder.path, home, join(home, 'inner'), link]) {
      await expect(plugins.install(path)).rejects.toMatchObject({
        name: 'validation.failed',
        message: `Cannot install plugin at ${path}: it contains the server's home or is part of it`,
      });
    }
    await writeFiles(`${home}-other`, { 'service.plugin.json': { name: 'other' } });
    expect(await plugins.install(`${home}-other`)).toMatchObject({ id: 'other' });
  });

  it('reports what is left out to the log', async () => {
    const { plugins, warnings } = usePlugins(home);
    const root = await source('one');
    await symlink('/etc/passwd', join(root, 'secret'));
    await plugins.install(root);
    expect(warnings.join()).toContain('the link secret is left out');
    expect(await readdir(managedRoot(home, 'one'))).toEqual(['service.plugin.json']);
  });
});

describe('a repository', () => {
  const zip = () => zipOf({ [`tools-${SHA}/service.plugin.json`]: '{"name":"tools"}' });
  const replies =
    (answers: Record<string, () => Response>): Fetch =>
    async (url) =>
      answers[String(url)]?.() ?? new Response(null, { status: 404 });
  const archive = `https://github.com/acme/tools/archive/${SHA}.zip`;
  const stored = 'https://codeload.github.com/acme/tools/zip';

  it('is installed at the commit that was found', async () => {
    const bytes = new Uint8Array(await zip());
    const fetch = replies({
      'https://api.github.com/repos/acme/tools/commits/HEAD': () => new Response(SHA),
      [archive]: () => new Response(null, { status: 302, headers: { location: stored } }),
      [stored]: () => new Response(bytes),
    });
    const { plugins } = usePlugins(home, 'server_1', { fetch });
    expect(await plugins.install('https://github.com/acme/tools')).toMatchObject({
      id: 'tools',
      source: 'github',
      originalSource: 'https://github.com/acme/tools',
      github: { owner: 'acme', repo: 'tools', ref: { kind: 'branch', value: 'HEAD' }, installedSha: SHA },
    });
    expect(await rows()).toMatchObject([{ github: { installedSha: SHA } }]);
    await plugins.install(await source('tools'));
    expect((await rows())[0]).not.toHaveProperty('github');
  });

  it('that cannot be looked up or downloaded is refused', async () => {
    const { plugins } = usePlugins(home, 'server_1', { fetch: replies({}) });
    await expect(plugins.install('https://github.com/acme/tools')).rejects.toMatchObject({
      name: 'validation.failed',
      message: 'Failed to look up https://github.com/acme/tools: HTTP 404 Not Found',
    });
    await expect(plugins.install(`https://github.com/acme/tools/commit/${SHA}`)).rejects.toMatchObject({
      message: 'Failed to download zip: HTTP 404 Not Found',
    });
  });
});

describe('a checksum of the last good catalog', () => {
  it('is compared with the archive, also by another server and after a restart', async () => {
    const zip = await zipOf({ 'service.plugin.json': '{"name":"tools"}' });
    const url = await serveDuringTest({ '/a.zip': zip, '/b.zip': zip });
    const catalog = join(folder.path, 'catalog.json');
    const env = () => ({ SERVICE_CODE_PLUGIN_MARKETPLACE_URL: catalog });
    const good = createHash('sha256').update(zip).digest('hex');
    const write = (a: string) =>
      writeFile(
        catalog,
        JSON.stringify({
          plugins: [
            { id: 'a', source: `${url}/a.zip`, sha256: a },
            { id: 'b', source: `${url}/b.zip` },
          ],
        }),
      );
    const { plugins } = usePlugins(home, 'server_1', { env });
    await plugins.install(`${url}/a.zip`);
    await write('0'.repeat(64));
    await plugins.marketplace();
    const later = usePlugins(home, 'server_2', { env }).plugins;
    const mismatch = { name: 'validation.failed', message: 'Downloaded zip does not match its checksum' };
    await expect(later.install(`${url}/a.zip`)).rejects.toMatchObject(mismatch);
    await expect(later.install(`  ${url.replace('http', 'HTTP')}/x/../a.zip`)).rejects.toMatchObject(mismatch);
    await expect(later.install(`${url}/a.zip#again`)).rejects.toMatchObject(mismatch);
    await later.install(`${url}/b.zip`);
    await writeFile(catalog, 'broken');
    await expect(plugins.marketplace()).rejects.toThrow('invalid catalog');
    await expect(plugins.install(`${url}/a.zip`)).rejects.toMatchObject(mismatch);
    await write(good.toUpperCase());
    await plugins.marketplace();
    expect(await plugins.install(`${url}/a.zip`)).toMatchObject({ id: 'tools' });
  });

  it('that cannot be read refuses archives, until a catalog is read', async () => {
    const url = await serveDuringTest({ '/a.zip': await zipOf({ 'service.plugin.json': '{"name":"tools"}' }) });
    await writeFiles(home, { 'plugins/checksums.json': '{' });
    const { plugins } = usePlugins(home);
    await expect(plugins.install(`${url}/a.zip`)).rejects.toMatchObject({ name: 'persistence.failure' });
    expect(await plugins.install(await source('local'))).toMatchObject({ id: 'local' });
  });
});

describe('what a killed server left', () => {
  const previous = (id: string) => join(managedFolder(home), `.previous-${id}`);

  it('is renamed back where the copy is missing', async () => {
    await usePlugins(home).plugins.install(await source('one', { kept: 'old' }));
    await rename(managedRoot(home, 'one'), previous('one'));
    await writeFiles(managedFolder(home), { '.staging-1/copy/file': '' });
    const { plugins } = usePlugins(home, 'server_2');
    expect(await plugins.list()).toMatchObject([{ id: 'one', state: 'ok' }]);
    expect(await installedFile('one', 'kept')).toBe('old');
    expect(await managed()).toEqual(['one']);
  });

  it('is removed where the copy was replaced', async () => {
    await usePlugins(home).plugins.install(await source('one', { kept: 'new' }));
    await cp(managedRoot(home, 'one'), previous('one'), { recursive: true });
    await writeFile(join(previous('one'), 'kept'), 'old');
    expect(await usePlugins(home, 'server_2').plugins.list()).toMatchObject([{ state: 'ok' }]);
    expect(await installedFile('one', 'kept')).toBe('new');
    expect(await managed()).toEqual(['one']);
  });

  it('is not touched while another server installs', async () => {
    const first = usePlugins(home);
    let answer: (() => void) | undefined;
    const zip = await zipOf({ 'service.plugin.json': '{"name":"slow"}' });
    const url = await serveDuringTest({ '/a.zip': (_request, response) => (answer = () => response.end(zip)) });
    await first.plugins.install(await source('one'));
    const installing = first.plugins.install(`${url}/a.zip`);
    await eventually(() => expect(answer).toBeDefined());
    const second = usePlugins(home, 'server_2');
    expect(await second.plugins.list()).toMatchObject([{ id: 'one', state: 'ok' }]);
    expect(await managed()).toEqual(expect.arrayContaining([expect.stringMatching(/^\.staging-/)]));
    answer?.();
    expect(await installing).toMatchObject({ id: 'slow' });
  });
});

it('runs changes one at a time in the order of the requests, and the list waits for them', async () => {
  const { plugins, changes } = usePlugins(home);
  const root = await source('one');
  const done: string[] = [];
  void plugins.install(root).then(() => done.push('install'));
  void plugins.act('one', 'disable').then(() => done.push('disable'));
  void plugins.act('one', 'enable').then(() => done.push('enable'));
  void plugins.act('one', 'enable').then(() => done.push('enable again'));
  expect(await plugins.list()).toMatchObject([{ id: 'one', enabled: true }]);
  expect(done).toEqual(['install', 'disable', 'enable', 'enable again']);
  expect(changes.filter((change) => change === 'event')).toHaveLength(4);
  const [{ updatedAt } = {}] = await rows();
  await plugins.act('ONE', 'enable');
  expect(await rows()).toMatchObject([{ updatedAt }]);
  expect(changes.filter((change) => change === 'enable')).toHaveLength(3);
});

it('answers a change after its listeners, whose failures are logged', async () => {
  const { plugins, warnings, changes } = usePlugins(home);
  const seen: unknown[] = [];
  const stop = plugins.onChange(async ({ action, before }) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    seen.push([action, before?.id, plugins.enabled().map(({ id }) => id), changes.includes('event')]);
    throw new Error('listener failed');
  });
  await plugins.install(await source('one'));
  expect(seen).toEqual([['install', undefined, ['one'], false]]);
  expect(warnings.join()).toContain('listener failed');
  stop();
  await plugins.act('one', 'remove');
  expect(seen).toHaveLength(1);
});

it('hands the same list to all readers until something changes', async () => {
  const { plugins } = usePlugins(home);
  expect(plugins.enabled()).toEqual([]);
  await plugins.install(await source('one'));
  expect(plugins.enabled()).toBe(plugins.enabled());
  expect(plugins.enabled()).toMatchObject([
    {
      id: 'one',
      root: managedRoot(home, 'one'),
      manifest: { path: join(managedRoot(home, 'one'), 'service.plugin.json') },
    },
  ]);
});

it('cancels a download when the server stops, and leaves no staging folder', async () => {
  let asked = false;
  const url = await serveDuringTest({ '/a.zip': () => (asked = true) });
  const { plugins } = usePlugins(home, 'server_1', { times: pluginTimes });
  const installing = plugins.install(`${url}/a.zip`).catch((error: unknown) => error);
  const queued = plugins.act('x', 'enable').catch((error: unknown) => error);
  await eventually(() => expect(asked).toBe(true));
  await plugins.close();
  expect(await installing).toMatchObject({ message: 'the server is stopping' });
  expect(await queued).toMatchObject({ message: 'the server is stopping' });
  expect(await managed()).toEqual([]);
});

it('reads nothing before the first use', async () => {
  usePlugins(home);
  expect(await readdir(home)).toEqual([]);
});
