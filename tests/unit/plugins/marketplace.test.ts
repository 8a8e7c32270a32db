import { writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpClient, type Fetch, type HttpClient } from '#server/net/http-client.ts';
import { readMarketplace, type CapabilityRow, type MarketplaceDeps } from '#server/plugins/marketplace.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';
import { serveDuringTest } from '#support/zips.ts';

const folder = useTemporaryFolder();
let client: HttpClient;
beforeEach(() => (client = createHttpClient()));
afterEach(() => client.close());

let sums = new Map<string, string>();
beforeEach(() => (sums = new Map()));

const file = () => join(folder.path, 'catalog.json');

interface Options extends Partial<Omit<MarketplaceDeps, 'requests'>> {
  fetch?: Fetch;
}

/** Reads the marketplace; by default that of a file. */
function read({ fetch = client.fetch, ...deps }: Options = {}) {
  return readMarketplace({
    configured: file(),
    defaultLocation: undefined,
    capabilities: [],
    installed: new Map(),
    checksums: {
      of: async (url) => sums.get(url),
      async replace(next) {
        sums = new Map(next);
      },
    },
    requests: { fetch, signal: new AbortController().signal },
    requestMs: 60_000,
    ...deps,
  });
}

/** Reads a catalog with these entries from a file. */
async function readEntries(plugins: unknown, options: Options = {}) {
  await writeFile(file(), JSON.stringify({ plugins }));
  return read(options);
}

const unreachable = (cause: string | RegExp) =>
  expect.objectContaining({
    name: 'internal.error',
    message: expect.stringMatching(
      typeof cause === 'string'
        ? `Plugin marketplace is unreachable: ${cause}`
        : new RegExp(`^Plugin marketplace is unreachable: ${cause.source}`),
    ),
  });
const invalid = (cause: RegExp) =>
  expect.objectContaining({
    name: 'internal.error',
    message: expect.stringMatching(new RegExp(`^Plugin marketplace returned an invalid catalog: ${cause.source}`)),
  });

describe('the location', () => {
  const catalog = JSON.stringify({ version: '1', plugins: [{ id: 'a', source: 'a.zip' }] });

  it('is an address, whose relative sources are addresses', async () => {
    const url = await serveDuringTest({
      '/from': (_request, response) => void response.writeHead(302, { location: '/cdn/catalog.json' }).end(),
      '/cdn/catalog.json': catalog,
    });
    expect(await read({ configured: `${url}/cdn/catalog.json` })).toMatchObject([{ source: `${url}/cdn/a.zip` }]);
    expect(await read({ configured: `${url}/from` })).toMatchObject([{ source: `${url}/a.zip` }]);
  });

  it('is a file, whose relative sources are paths', async () => {
    await writeFile(file(), `\uFEFF${catalog}`);
    for (const configured of [file(), pathToFileURL(file()).href]) {
      expect(await read({ configured })).toMatchObject([{ source: join(folder.path, 'a.zip') }]);
    }
  });

  it('is missing, or names nothing that can be read', async () => {
    await expect(read({ configured: undefined })).rejects.toEqual(unreachable('no catalog is configured'));
    for (const configured of ['/no/such/catalog.json', folder.path, 'http://', 'file://host/x', '~/no-such-catalog']) {
      await expect(read({ configured })).rejects.toEqual(unreachable(/./));
    }
  });

  it('is a host that fails', async () => {
    const url = await serveDuringTest({
      '/error': (_request, response) => void response.writeHead(503).end(),
      '/reset': (request) => void request.socket.resetAndDestroy(),
      '/silent': () => undefined,
      '/slow': (_request, response) => void response.writeHead(200).write('{'),
      '/loop': (_request, response) => void response.writeHead(302, { location: '/loop' }).end(),
      '/large': (_request, response) => void response.end(Buffer.alloc(4 * 1024 * 1024 + 1, ' ')),
    });
    const failing = (path: string, requestMs?: number) =>
      read({ configured: `${url}${path}`, ...(requestMs !== undefined && { requestMs }) });
    await expect(failing('/error')).rejects.toEqual(unreachable('HTTP 503 Service Unavailable'));
    await expect(failing('/none')).rejects.toEqual(unreachable('HTTP 404 Not Found'));
    await expect(failing('/reset')).rejects.toEqual(unreachable(/./));
    await expect(failing('/silent', 50)).rejects.toEqual(unreachable('timed out after 0.05 s'));
    await expect(failing('/slow', 200)).rejects.toEqual(unreachable('timed out after 0.2 s'));
    await expect(failing('/loop')).rejects.toEqual(unreachable('more than 5 redirects'));
    await expect(failing('/large')).rejects.toEqual(unreachable(/.*larger than 4194304 bytes/));
    await expect(
      read({
        configured: 'https://host.test/x',
        fetch: async () => new Response(null, { status: 301, headers: { location: 'http://host.test/x' } }),
      }),
    ).rejects.toEqual(unreachable('a redirect from https to http'));
  });

  it('is a file that is too large', async () => {
    await writeFile(file(), Buffer.alloc(4 * 1024 * 1024 + 1, ' '));
    await expect(read()).rejects.toEqual(unreachable(/.*larger than 4194304 bytes/));
  });
});

describe('a catalog is refused', () => {
  it.each([
    ['that is no JSON', '{', /./],
    ['that is a list', '[]', /Invalid input/],
    ['without plugins', '{}', /plugins: /],
    ['that is nested too deeply', `{"plugins":${'['.repeat(300)}${']'.repeat(300)}}`, /the text is nested too deeply/],
  ])('%s', async (_what, json, cause) => {
    await writeFile(file(), json);
    await expect(read()).rejects.toEqual(invalid(cause));
  });

  const sha = 'a'.repeat(64);
  it.each([
    ['that is no object', [7], /plugins\.1: /],
    ['without an id', { source: '/a' }, /plugins\.1\.id: /],
    ['with a blank id', { id: ' ', source: '/a' }, /plugins\.1\.id: /],
    ['without a source', { id: 'a' }, /plugins\.1\.source: no source/],
    ['with a blank source', { id: 'a', source: ' ' }, /plugins\.1\.source: no source/],
    ['with an unknown tier', { id: 'a', source: '/a', tier: 'third-party' }, /plugins\.1\.tier: /],
    ['with an unknown type', { id: 'a', source: '/a', type: 'x' }, /plugins\.1\.type: /],
    ['with a checksum of another length', { id: 'a', source: '/a', sha256: 'abc' }, /plugins\.1\.sha256: /],
    ['with a version that is no text', { id: 'a', source: '/a', version: 1 }, /plugins\.1\.version: /],
    ['with keywords that are no list', { id: 'a', source: '/a', keywords: 'x' }, /plugins\.1\.keywords: /],
    ['with an address of an unknown kind', { id: 'a', source: 'ftp://host/a.zip' }, /plugins\.1\.source: /],
    ['with an invalid address', { id: 'a', source: 'http://' }, /plugins\.1\.source: /],
  ])('with one entry %s', async (_what, entry, cause) => {
    await expect(readEntries([{ id: 'good', source: '/good' }, entry])).rejects.toEqual(invalid(cause));
  });

  it('with more than 2,000 entries', async () => {
    const entries = (count: number) => Array.from({ length: count }, (_, at) => ({ id: `p${at}`, source: '/a' }));
    await expect(readEntries(entries(2001))).rejects.toEqual(invalid(/plugins: /));
    expect(await readEntries(entries(2000))).toHaveLength(2000);
  });

  it('with one source and two checksums, before any of them is stored', async () => {
    const one = { id: 'a', source: 'https://h.test/x/../a.zip', sha256: sha };
    const two = { id: 'b', source: 'https://H.test/a.zip', sha256: 'b'.repeat(64) };
    sums = new Map([['https://h.test/old.zip', sha]]);
    await expect(readEntries([one, two])).rejects.toEqual(invalid(/one source has two checksums/));
    expect([...sums.keys()]).toEqual(['https://h.test/old.zip']);
    await readEntries([one, { ...two, sha256: sha.toUpperCase() }]);
    expect([...sums]).toEqual([['https://h.test/a.zip', sha]]);
    await readEntries([{ id: 'repository', source: 'https://github.com/acme/tools/tree/main', sha256: sha }]);
    expect([...sums]).toEqual([]);
  });
});

it('resolves sources and reads members under all of their names', async () => {
  expect(
    await readEntries([
      {
        id: 'full',
        source: 'https://h.test/a.zip',
        displayName: ' Full ',
        tier: 'official',
        description: 'd',
        homepage: 'h',
        keywords: [' k ', ' '],
        version: ' 1.0.0 ',
      },
      {
        id: 'other',
        url: '~/plugin',
        name: 'Other',
        shortDescription: 's',
        websiteURL: 'w',
        keywords: [],
        type: 'guide',
      },
      { id: 'bare', downloadUrl: 'file:///opt/plugin', description: ' ' },
      { id: 'path', source: '/opt/x', url: 'ignored' },
    ]),
  ).toEqual([
    {
      id: 'full',
      tier: 'official',
      displayName: 'Full',
      description: 'd',
      homepage: 'h',
      keywords: ['k'],
      version: '1.0.0',
      source: 'https://h.test/a.zip',
    },
    {
      id: 'other',
      tier: 'third-party',
      displayName: 'Other',
      description: 's',
      homepage: 'w',
      source: join(homedir(), 'plugin'),
    },
    { id: 'bare', tier: 'third-party', displayName: 'bare', source: '/opt/plugin' },
    { id: 'path', tier: 'third-party', displayName: 'path', source: '/opt/x' },
  ]);
});

describe('versions', () => {
  it('come from pinned addresses of repositories', async () => {
    const rows = await readEntries([
      { id: 'tag', source: 'https://github.com/a/b/releases/tag/v1.2.3' },
      { id: 'tree', source: 'https://github.com/a/b/tree/2.0.0-rc.1' },
      { id: 'branch', source: 'https://github.com/a/b/tree/main' },
      { id: 'commit', source: 'https://github.com/a/b/commit/0123456' },
      { id: 'zip', source: 'https://h.test/v1.0.0/a.zip' },
      { id: 'given', source: 'https://github.com/a/b/releases/tag/v1.2.3', version: 'one' },
    ]);
    expect(rows.map(({ id, version }) => [id, version])).toEqual([
      ['tag', '1.2.3'],
      ['tree', '2.0.0-rc.1'],
      ['branch', undefined],
      ['commit', undefined],
      ['zip', undefined],
      ['given', 'one'],
    ]);
  });

  it('of repositories without a ref are looked up once for each; failures are ignored', async () => {
    const asked: string[] = [];
    const fetch: Fetch = async (url) => {
      asked.push(String(url));
      if (String(url).includes('/down/')) throw new Error('down');
      if (String(url).includes('/none/')) return new Response(null, { status: 404 });
      const tag = String(url).includes('/odd/') ? 'nightly' : 'v3.1.0';
      return new Response(null, { status: 302, headers: { location: `https://github.com/x/y/releases/tag/${tag}` } });
    };
    const sources = ['a/b', 'a/b', 'a/down', 'a/none', 'a/odd', 'a/known'];
    const rows = await readEntries(
      sources.map((name, at) => ({
        id: `p${at}`,
        source: `https://github.com/${name}`,
        ...(name === 'a/known' && { version: '9.0.0' }),
      })),
      { fetch },
    );
    expect(rows.map(({ version }) => version)).toEqual(['3.1.0', '3.1.0', undefined, undefined, undefined, '9.0.0']);
    expect(asked.toSorted()).toEqual(
      ['b', 'down', 'none', 'odd'].map((name) => `https://github.com/a/${name}/releases/latest`),
    );
  });

  it('that are not found in time are ignored, of any number of repositories', async () => {
    const fetch: Fetch = (_url, init) =>
      new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(new Error('aborted'))));
    const entries = Array.from({ length: 200 }, (_, at) => ({ id: `p${at}`, source: `https://github.com/a/p${at}` }));
    const rows = await readEntries(entries, { fetch, requestMs: 50 });
    expect(rows).toHaveLength(200);
  });

  it.each([
    ['1.0.0', '1.0.1', true],
    ['1.0.0', 'v1.0.1', true],
    ['1.0.0', '1.0.0', undefined],
    ['1.0.1', '1.0.0', undefined],
    ['1.0.0-rc.1', '1.0.0', true],
    ['1.0.0', '1.0.0+build', undefined],
    ['one', '1.0.0', undefined],
    ['1.0.0', 'two', undefined],
    [undefined, '1.0.0', undefined],
    ['1.0.0', undefined, undefined],
  ])('installed %s, listed %s: update %s', async (version, listed, update) => {
    const [row] = await readEntries([{ id: 'Tools', source: '/x', ...(listed !== undefined && { version: listed }) }], {
      installed: new Map([['tools', { enabled: false, version }]]),
    });
    expect(row?.updateAvailable).toBe(update);
    expect(row?.installed).toEqual({ enabled: false, ...(version !== undefined && { version }) });
  });
});

describe('the default catalog', () => {
  const capability = (id: string, supported = true): CapabilityRow => ({
    id,
    displayName: `The ${id}`,
    description: 'does it',
    supported,
  });
  const both = [capability('service-cu'), capability('service-webbridge')];
  const readDefault = async (plugins: unknown, options: Options) => {
    await writeFile(file(), JSON.stringify({ plugins }));
    return read({ configured: undefined, defaultLocation: file(), ...options });
  };

  it('gains rows of supported capabilities that it does not list', async () => {
    expect(
      await readDefault([{ id: 'service-webbridge', source: '/w' }], {
        capabilities: [...both, capability('other', false)],
      }),
    ).toEqual([
      {
        id: 'service-webbridge',
        tier: 'third-party',
        displayName: 'service-webbridge',
        source: '/w',
        capabilityId: 'service-webbridge',
      },
      {
        id: 'service-cu',
        tier: 'official',
        displayName: 'The service-cu',
        description: 'does it',
        source: 'capability:service-cu',
      },
    ]);
  });

  it('loses rows of capabilities that are not supported here', async () => {
    const entries = ['service-cu', 'service-cu-win', 'service-webbridge', 'plain'].map((id) => ({ id, source: '/x' }));
    const capabilities = [capability('service-cu', false), capability('service-webbridge')];
    const rows = await readDefault(entries, { capabilities });
    expect(rows.map(({ id, capabilityId }) => [id, capabilityId])).toEqual([
      ['service-webbridge', 'service-webbridge'],
      ['plain', undefined],
    ]);
    expect(await readDefault(entries, { capabilities: [] })).toHaveLength(1);
  });

  it('shows the wiring plugins of a capability as its state', async () => {
    const entries = [{ id: 'service-cu-win', source: '/x' }];
    const state = async (...ids: string[]) => {
      const installed = new Map(ids.map((id) => [id, { enabled: id === 'service-cu', version: undefined }]));
      const rows = await readDefault(entries, { capabilities: [capability('service-cu')], installed });
      return rows[0]?.installed;
    };
    expect(await state()).toBeUndefined();
    expect(await state('service-cu')).toEqual({ enabled: true });
    expect(await state('service-cu-win')).toEqual({ enabled: false });
    expect(await state('service-cu-win', 'service-cu')).toEqual({ enabled: true });
  });

  it('is the only one with capabilities', async () => {
    const rows = await readEntries([{ id: 'service-cu', source: '/x' }], { capabilities: both });
    expect(rows).toEqual([{ id: 'service-cu', tier: 'third-party', displayName: 'service-cu', source: '/x' }]);
  });
});
