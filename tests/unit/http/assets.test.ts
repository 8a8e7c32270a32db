/** Files of paths outside the API, and their headers. */
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAssetReader, type PageRequest } from '#utils/http/assets.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';

let folder: string;
beforeAll(async () => {
  folder = await temporaryDirectory();
  await mkdir(join(folder, 'assets', 'folder.js'), { recursive: true });
  const files = {
    'index.html': '<p>page</p>',
    'empty.txt': '',
    'icon.svg': '<svg/>',
    'icon.png': 'png',
    'manifest.json': '{}',
    unknown: 'bytes',
    'assets/a.js': 'x',
    'assets/index.html': 'other',
    'a\\b.txt': 'windows',
    'service-worker.js': 'sw',
    'assets/big.js': 'plain',
    'assets/big.js.br': 'brotli',
    'assets/big.js.gz': 'gzipped',
    'assets/only.css': 'plain',
    'assets/only.css.gz': 'gzipped',
    'assets/photo.png': 'plain',
    'assets/photo.png.br': 'brotli',
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  await symlink('loop.js', join(folder, 'loop.js'));
});
afterAll(() => rm(folder, { recursive: true }));

const reader = createAssetReader(() => folder);
const PAGE_HEADERS = { 'content-security-policy': "default-src 'self'" };
const PAGE = { base: '/', headers: PAGE_HEADERS, ifNoneMatch: undefined };

async function read(path: string, from = reader) {
  const { status, headers, body } = await from.read(path.split('/'), PAGE);
  return { status, headers, body: body instanceof Readable ? await text(body) : body?.toString() };
}
/** An entity tag that is not weak. */
const STRONG = /^"[\w-]+"$/;
const page = {
  status: 200,
  headers: {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    etag: expect.stringMatching(/^"[\w-]{43}"$/),
    ...PAGE_HEADERS,
  },
  body: '<p>page</p>',
};
const missing = { status: 404, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: 'Not found' };

describe('a file', () => {
  it.each([
    ['empty.txt', 'text/plain; charset=utf-8', ''],
    ['icon.svg', 'image/svg+xml; charset=utf-8', '<svg/>'],
    ['icon.png', 'image/png', 'png'],
    ['manifest.json', 'application/json; charset=utf-8', '{}'],
    ['unknown', 'application/octet-stream', 'bytes'],
  ])('has its type, and may change: %s', async (name, type, body) => {
    const { headers, ...answer } = await read(name);
    expect(answer).toEqual({ status: 200, body });
    expect(headers).toMatchObject({ 'content-type': type, 'content-length': body.length });
    expect(headers).not.toHaveProperty('cache-control');
  });

  it('of the build is cached forever, the page and other fixed names are not', async () => {
    const { headers } = await read('assets/a.js');
    expect(headers).toEqual({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-length': 1,
      etag: expect.stringMatching(STRONG),
      vary: 'Accept-Encoding',
    });
    expect(await read('index.html')).toEqual(page);
    expect((await read('assets/index.html')).headers['cache-control']).toMatch(/immutable/);
    expect((await read('service-worker.js')).headers['cache-control']).toBe('no-cache');
  });
});

describe('a compressed file', () => {
  const requested = async (path: string, headers: Omit<Partial<PageRequest>, 'base'> = {}) => {
    const { status, headers: sent, body } = await reader.read(path.split('/'), { ...PAGE, ...headers });
    return { status, sent, body: body instanceof Readable ? await text(body) : body?.toString() };
  };

  it.each([
    ['gzip, deflate, br', 'br', 'brotli'],
    ['gzip;q=1, br;q=0.1', 'br', 'brotli'],
    ['gzip, br;q=0', 'gzip', 'gzipped'],
    ['*', 'br', 'brotli'],
    ['*;q=0, GZIP', 'gzip', 'gzipped'],
    ['br;q=0, gzip;q=0.0, *', undefined, 'plain'],
    ['deflate', undefined, 'plain'],
    ['identity;q=0', undefined, 'plain'],
    ['br;q=x', undefined, 'plain'],
    ['', undefined, 'plain'],
    [undefined, undefined, 'plain'],
  ])('is sent to a client that accepts %j', async (acceptEncoding, encoding, body) => {
    const answer = await requested('assets/big.js', { acceptEncoding });
    expect(answer).toMatchObject({
      status: 200,
      body,
      sent: {
        'content-type': 'text/javascript; charset=utf-8',
        'content-length': body.length,
        'cache-control': 'public, max-age=31536000, immutable',
        vary: 'Accept-Encoding',
      },
    });
    expect(answer.sent['content-encoding']).toBe(encoding);
  });

  it('is the one that exists', async () => {
    expect(await requested('assets/only.css', { acceptEncoding: 'br, gzip' })).toMatchObject({ body: 'gzipped' });
    expect(await requested('assets/only.css', { acceptEncoding: 'br' })).toMatchObject({ body: 'plain' });
  });

  it('exists of text types only', async () => {
    const { body, sent } = await requested('assets/photo.png', { acceptEncoding: 'br' });
    expect([body, sent.vary, sent['content-encoding']]).toEqual(['plain', undefined, undefined]);
  });

  it('has a tag of its own, which answers a repeated request with the same headers', async () => {
    const tags = new Set<unknown>();
    for (const acceptEncoding of ['br', 'gzip', undefined]) {
      const { sent } = await requested('assets/big.js', { acceptEncoding });
      expect(sent.etag).toMatch(STRONG);
      tags.add(sent.etag);
      const { 'content-length': _length, ...headers } = sent;
      const repeated = await requested('assets/big.js', { acceptEncoding, ifNoneMatch: String(sent.etag) });
      expect(repeated).toEqual({ status: 304, sent: headers, body: undefined });
    }
    expect(tags.size).toBe(3);
    const [brotli] = tags;
    const other = { acceptEncoding: 'gzip', ifNoneMatch: String(brotli) };
    expect(await requested('assets/big.js', other)).toMatchObject({ status: 200, body: 'gzipped' });
  });

  it.each(['assets/big.js.br', 'assets/big.js.gz', 'assets/photo.png.br'])('has no path: %s', async (path) => {
    expect(await read(path)).toEqual(missing);
  });
});

describe('a path that names no file', () => {
  it.each(['', 'sessions/x', 'assets', 'unknown/below', 'a\\b', 'x\0', 'x'.repeat(300)])(
    'and has no extension is the page: %j',
    async (path) => {
      expect(await read(path)).toEqual(page);
    },
  );

  it.each([
    'missing.js',
    '..',
    '.',
    'assets/..',
    'assets/folder.js',
    'icon.png/a.js',
    './icon.png',
    'assets/../icon.png',
    '/icon.png',
    'assets//a.js',
    'a\\b.txt',
    'icon.png\0',
    `${'x'.repeat(300)}.js`,
  ])('but has an extension is not found: %j', async (path) => {
    expect(await read(path)).toEqual(missing);
  });

  it.each(['..%2findex.html', 'assets/a.js'])('is not found although its segments hold slashes: %s', async (path) => {
    expect(await reader.read([decodeURIComponent(path)], PAGE)).toEqual(missing);
  });

  it('is not found if the page was not built', async () => {
    const unbuilt = createAssetReader(() => join(folder, 'no-page'));
    expect(await read('', unbuilt)).toEqual(missing);
  });
});

it('a file that cannot be opened is a failure, and not the page', async () => {
  await expect(reader.read(['loop.js'], PAGE)).rejects.toMatchObject({ code: 'ELOOP' });
});

describe('the document of the page', () => {
  const HTML =
    '<html><head><link rel="icon" href="./icon.svg"><script type="module" src="./assets/a-1.js"></script></head>' +
    '<body><a href="https://other.test/">./</a></body></html>';
  let built: string;
  beforeAll(async () => {
    built = await temporaryDirectory();
    await writeFile(join(built, 'index.html'), HTML);
  });
  afterAll(() => rm(built, { recursive: true }));
  const documentAt = async (base: string, path = '', ifNoneMatch?: string) => {
    const { status, headers, body } = await createAssetReader(() => built).read(path.split('/'), {
      base,
      headers: {},
      ifNoneMatch,
    });
    return { status, tag: headers.etag, html: body?.toString() };
  };

  it.each(['', 'index.html', 'sessions/session_1'])('has addresses below its base, at %j', async (path) => {
    expect((await documentAt('/', path)).html).toBe(
      '<html><head><link rel="icon" href="/icon.svg"><script type="module" src="/assets/a-1.js"></script>' +
        '  <meta name="service-base" content="/" />\n  </head><body><a href="https://other.test/">./</a></body></html>',
    );
    expect((await documentAt('/devices/d1/', path)).html).toContain('src="/devices/d1/assets/a-1.js"');
    expect((await documentAt('/devices/d1/', path)).html).toContain('content="/devices/d1/"');
  });

  it('contains the base as text only', async () => {
    const { html } = await documentAt(`/a&"'<b>$&$1/`);
    expect(html).toContain('content="/a&amp;&quot;&#39;&lt;b&gt;$&amp;$1/"');
    expect(html).toContain('href="/a&amp;&quot;&#39;&lt;b&gt;$&amp;$1/icon.svg"');
  });

  it('has the tag of its bytes, which answers a repeated request', async () => {
    const { tag } = await documentAt('/');
    const other = await documentAt('/devices/d1/');
    expect(other.tag).not.toBe(tag);
    expect(await documentAt('/', 'sessions/x', String(tag))).toEqual({ status: 304, tag, html: undefined });
    expect(await documentAt('/devices/d1/', '', String(tag))).toEqual({ ...other, status: 200 });
    await writeFile(join(built, 'index.html'), HTML.replace('a-1', 'a-2'));
    expect((await documentAt('/', '', String(tag))).status).toBe(200);
    await writeFile(join(built, 'index.html'), HTML);
  });
});
