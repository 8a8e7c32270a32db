/** Pages of other sites against a server, mostly without credentials, in a real browser; and the server's own page. */
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from '@decimalturn/toml-patch';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { launchBrowser } from '#support/browser.ts';
import { blankPng } from '#support/images.ts';
import { startModelServer, type ModelServer } from '#support/model-server.ts';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';

let browser: Browser;
let root: string;
let project: string;
let model: ModelServer;
let server: SpawnedServer;
/** Serves a page of another site. */
let others: Server;
let port: number;
let page: Page;

/** Sets the title of the document that it runs in, as evidence. */
const SCRIPT = "document.title = 'Ran'";

const content = (name: string) => `${server.url}/api/v1/fs:content?path=${encodeURIComponent(join(project, name))}`;

beforeAll(async () => {
  browser = await launchBrowser();
  root = await realpath(await mkdtemp(join(tmpdir(), 'service-code-origins-')));
  project = join(root, 'project');
  await mkdir(project);
  others = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html><title>Another site</title>
      <a id="file" href="${content('evil.html')}">file</a> <a id="page" href="${server.url}/">page</a>
      <script src="${content('evil.js')}"></script><img src="${content('dot.png')}">
      <iframe src="${server.url}/"></iframe><iframe src="${content('evil.html')}"></iframe>`);
  }).listen(0, '127.0.0.1');
  await once(others, 'listening');
  const address = others.address();
  port = typeof address === 'object' && address ? address.port : 0;
  await writeFile(join(project, 'evil.html'), `<!doctype html><title>Evil</title><script>${SCRIPT}</script>`);
  await writeFile(join(project, 'evil.js'), SCRIPT);
  await writeFile(join(project, 'dot.png'), blankPng(3, 2));
  await writeFile(join(project, 'a.txt'), 'some text');
  model = await startModelServer();
  await mkdir(join(root, 'home'));
  await writeFile(join(root, 'home/config.toml'), stringify(model.providerConfig()));
});
afterAll(async () => {
  await browser.close();
  others.closeAllConnections();
  others.close();
  await model.close();
  await rm(root, { recursive: true, force: true });
});

async function start(origins = '', args = ['--dangerous-bypass-auth']): Promise<void> {
  server = await spawnServer({
    home: join(root, 'home'),
    args,
    env: { SERVICE_CODE_CORS_ORIGINS: origins },
  });
  page = await browser.newPage();
}
afterEach(async () => {
  await page.close();
  await server.close();
});

/** Titles of the frames in a page; a frame that the browser refused has none of the server's titles. */
const framed = async (): Promise<string[]> =>
  Promise.all(
    page
      .frames()
      .slice(1)
      .map((frame) => frame.title().catch(() => 'refused')),
  );

describe('with --dangerous-bypass-auth', () => {
  beforeEach(() => start());

  // Another port of the same host is the same site, another name is not.
  it.each(['127.0.0.1', 'localhost'])(
    'a page of %s runs no script in this origin and frames no page of it',
    async (host) => {
      await page.goto(`http://${host}:${port}/page`, { waitUntil: 'load' });
      expect(await page.title()).toBe('Another site');
      expect(await framed()).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(Service Code|Evil|Ran)$/)]));
      await page.locator('#file').click();
      await expect.poll(() => page.textContent('body')).toContain('Request from another site not allowed');
    },
  );

  it('a link of another page opens the page', async () => {
    await page.goto(`http://localhost:${port}/page`);
    await page.locator('#page').click();
    await page.getByRole('button', { name: 'New session', exact: true }).first().waitFor({ state: 'visible' });
  });

  it('a document of the disk runs no script, also when the user opens its address', async () => {
    await page.goto(content('evil.html'), { waitUntil: 'load' });
    expect(await page.title()).toBe('Evil');
  });

  it('the page displays an image of the session, and a file is downloaded', async () => {
    const { data } = await server.api('POST', '/sessions', { metadata: { cwd: project } });
    const { id } = z.object({ id: z.string() }).parse(data);
    const form = new FormData();
    form.set(
      'file',
      new File([new Uint8Array(await readFile(join(project, 'dot.png')))], 'dot.png', { type: 'image/png' }),
    );
    const uploaded = await (await server.fetch('/api/v1/files', { method: 'POST', body: form })).json();
    const { data: file } = z.object({ data: z.object({ id: z.string() }) }).parse(uploaded);
    model.enqueue({ text: 'Seen.' });
    const image = { type: 'image', source: { kind: 'file', file_id: file.id } };
    await server.api('POST', `/sessions/${id}/prompts`, { content: [{ type: 'text', text: 'look' }, image] });
    await page.goto(`${server.url}/#/s/${id}`);
    await page.getByRole('log').getByRole('img', { name: 'Attached image' }).waitFor({ state: 'visible' });
    const size = await page.evaluate(`(async () => {
      const image = document.querySelector('[role=log] img');
      await image.decode();
      return image.naturalWidth + 'x' + image.naturalHeight;
    })()`);
    expect(size).toBe('3x2');

    const path = `/api/v1/sessions/${id}/fs/a.txt:download`;
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement('a'), { href: '${path}', id: 'get', textContent: 'get' }))`,
    );
    const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#get').click()]);
    expect(await readFile(await download.path(), 'utf8')).toBe('some text');
  });
});

describe('a listed origin', () => {
  beforeEach(() => start(`http://localhost:${port}`));

  it('fetches and frames the page', async () => {
    await page.goto(`http://localhost:${port}/page`);
    await expect.poll(framed).toContain('Service Code');
    const meta = await page.evaluate(`fetch('${server.url}/api/v1/meta').then((answer) => answer.json())`);
    expect(meta).toMatchObject({ code: 0 });
  });
});

describe('with credentials, on loopback', () => {
  beforeEach(() => start('', []));

  it('an editor frames the page, which runs under its policy', async () => {
    // The frame is of the same site, but another origin: this browser grants no storage to frames of other sites.
    await page.goto(`http://127.0.0.1:${port}/page`);
    await expect.poll(framed).toContain('Service Code');
    const inFrame = page.frameLocator(`iframe[src="${server.url}/"]`);
    await inFrame.getByRole('heading', { name: 'This server needs its token' }).waitFor({ state: 'visible' });
    const policy = (await fetch(server.url)).headers.get('content-security-policy');
    expect(policy).toMatch(/^default-src 'self'; /);
  });
});
