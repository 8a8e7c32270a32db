/** The panel of files and the attachments of a prompt: the built page on the built server, with a scripted model. */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from '@decimalturn/toml-patch';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import * as z from 'zod';
import { launchBrowser, openPage, type OpenedPage } from '#support/browser.ts';
import { startModelServer, type ModelServer } from '#support/model-server.ts';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';

let browser: Browser;
let model: ModelServer;
let server: SpawnedServer;
let root: string;
let project: string;
let opened: OpenedPage;
let page: Page;

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.org', ...args], { cwd: project });

beforeAll(async () => {
  browser = await launchBrowser();
  root = await realpath(await mkdtemp(join(tmpdir(), 'service-code-files-')));
  project = join(root, 'project');
  await mkdir(join(project, 'src/deep'), { recursive: true });
  await writeFile(join(project, 'src/hello.ts'), 'export const hello = 1;\n');
  await writeFile(join(project, 'src/deep/other.py'), 'print(1)\n');
  await writeFile(join(project, '.gitignore'), 'ignored/\n');
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  await writeFile(join(project, 'src/hello.ts'), 'export const hello = 2;\n');
  model = await startModelServer();
  await mkdir(join(root, 'home'));
  await writeFile(join(root, 'home/config.toml'), stringify(model.providerConfig()));
  server = await spawnServer({ home: join(root, 'home') });
  opened = await openPage(browser, server);
  page = opened.page;
});
afterAll(async () => {
  await browser.close();
  await server.close();
  await model.close();
  await rm(root, { recursive: true, force: true });
  expect(opened.errors).toEqual([]);
});

const visible = { state: 'visible' } as const;
const field = () => page.getByRole('textbox', { name: 'Prompt' });
const item = (name: string) => page.getByRole('treeitem').filter({ has: page.getByText(name, { exact: true }) });
const viewer = (path: string) => page.getByRole('region', { name: path });

beforeEach(async () => {
  const { data } = await server.api('POST', '/sessions', { metadata: { cwd: project } });
  const { id } = z.object({ id: z.string() }).parse(data);
  await page.goto(`${server.url}/#/s/${id}`);
  await field().waitFor(visible);
  const files = page.getByRole('button', { name: 'Files', exact: true });
  if ((await files.getAttribute('aria-pressed')) !== 'true') await files.click();
  await item('src').waitFor(visible);
});

it('displays the tree with git marks, a file with colours, and its difference', async () => {
  expect(await item('.git').count()).toBe(0);
  await item('src').click();
  await item('hello.ts').getByTitle('modified').waitFor(visible);
  await item('hello.ts').click();
  await viewer('src/hello.ts').getByText('export const hello = 2;').waitFor(visible);
  await viewer('src/hello.ts').locator('.hljs-keyword').first().waitFor(visible);
  await viewer('src/hello.ts').getByRole('button', { name: 'Diff' }).click();
  await viewer('src/hello.ts').locator('.removed').getByText('export const hello = 1;').waitFor(visible);
  await page.getByRole('tab', { name: 'Changed' }).click();
  await page.getByRole('tree', { name: 'Changed files' }).getByText('src/hello.ts').waitFor(visible);
  await page.getByText('main', { exact: true }).waitFor(visible);
  await page.getByRole('button', { name: 'Close the file' }).click();
});

it('follows changes on the disk', async () => {
  await item('src').click();
  await item('deep').waitFor(visible);
  await writeFile(join(project, 'src/new.txt'), 'first\n');
  await item('new.txt').getByTitle('untracked').waitFor(visible);
  await item('new.txt').click();
  await viewer('src/new.txt').getByText('first').waitFor(visible);
  await writeFile(join(project, 'src/new.txt'), 'second\n');
  await viewer('src/new.txt').getByText('second').waitFor(visible);
  await rm(join(project, 'src/new.txt'));
  await item('new.txt').waitFor({ state: 'detached' });
  await viewer('src/new.txt').getByRole('alert').waitFor(visible);
  await page.getByRole('button', { name: 'Close the file' }).click();
});

it('finds a file by parts of its path', async () => {
  await page.keyboard.press('Control+p');
  const input = page.getByRole('dialog', { name: 'Search' }).getByRole('combobox');
  await input.waitFor(visible);
  expect(await input.inputValue()).toBe('/');
  await input.fill('/dp/oth');
  const found = page.getByRole('listbox', { name: 'Hits' }).getByRole('option');
  await expect.poll(() => found.allTextContents()).toEqual(['src/deep/other.py']);
  await page.keyboard.press('Enter');
  await input.waitFor({ state: 'detached' });
  await viewer('src/deep/other.py').getByText('print(1)').waitFor(visible);
  await page.getByRole('button', { name: 'Close the file' }).click();
});

it('completes a path after an @, with the keyboard only', async () => {
  await field().fill('look at ');
  await field().press('End');
  await page.keyboard.type('@hel');
  const list = page.getByRole('listbox', { name: 'Files to mention' });
  await list.getByRole('option', { name: 'src/hello.ts' }).waitFor(visible);
  await page.keyboard.press('Tab');
  expect(await field().inputValue()).toBe('look at @src/hello.ts ');
  await list.waitFor({ state: 'detached' });
  await page.keyboard.type('@de');
  await list.getByRole('option', { name: 'src/deep/' }).waitFor(visible);
  // After Escape the list stays closed, and the key does not stop the turn.
  await page.keyboard.press('Escape');
  await list.waitFor({ state: 'detached' });
  expect(await field().inputValue()).toBe('look at @src/hello.ts @de');
});

it('sends dropped files with a prompt', async () => {
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const data = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    const bytes = Uint8Array.from(atob('${png}'), (unit) => unit.charCodeAt(0));
    transfer.items.add(new File([bytes], 'dot.png', { type: 'image/png' }));
    transfer.items.add(new File(['a note'], 'note.txt', { type: 'text/plain' }));
    transfer.items.add(new File(['another'], 'unwanted.txt', { type: 'text/plain' }));
    return transfer;
  })()`);
  for (const type of ['dragenter', 'dragover', 'drop']) await field().dispatchEvent(type, { dataTransfer: data });
  const list = page.getByRole('list', { name: 'Attachments' });
  await list.getByText('note.txt').waitFor(visible);
  await list.getByRole('button', { name: 'Remove unwanted.txt' }).click();
  await list.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
  model.enqueue({ text: 'Seen.' });
  await field().fill('look');
  await field().press('Enter');
  await page.getByRole('log').getByText('Seen.').waitFor(visible);
  await page.getByRole('log').getByRole('img', { name: 'Attached image' }).waitFor(visible);
  await page.getByRole('log').getByRole('img', { name: 'Attached image' }).click();
  const imageViewer = page.getByRole('dialog', { name: 'Attached image' });
  const width = () => imageViewer.getByRole('img').evaluate((image): unknown => Reflect.get(image, 'naturalWidth'));
  await expect.poll(width).toBe(1);
  await page.keyboard.press('Escape');
  await imageViewer.waitFor({ state: 'hidden' });
  const sent = JSON.stringify(model.requests.at(-1)?.body['messages']);
  expect(sent).toContain(png);
  expect(sent).toContain('note.txt');
  expect(sent).not.toContain('unwanted.txt');
  expect(await list.count()).toBe(0);
});

it('attaches a large text that is pasted, and writes a small one into the prompt', async () => {
  const paste = (lines: number) =>
    field().evaluate(
      (element, text) => {
        element.focus();
        const view = element.ownerDocument.defaultView;
        const data = new view.DataTransfer();
        data.setData('text/plain', text);
        const event = new view.ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
        return element.dispatchEvent(event);
      },
      Array.from({ length: lines }, () => 'a line').join('\n'),
    );
  // The browser inserts it.
  expect(await paste(3)).toBe(true);
  expect(await paste(200)).toBe(false);
  const list = page.getByRole('list', { name: 'Attachments' });
  await list.getByText('pasted-200-lines.txt').waitFor(visible);
  await list.getByRole('button', { name: 'Remove pasted-200-lines.txt' }).click();
  await list.waitFor({ state: 'detached' });
});

it('displays how much of a file was uploaded, and cancels the upload of one that is removed', async () => {
  const network = await page.context().newCDPSession(page);
  const limit = (uploadThroughput: number) =>
    network.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput,
    });
  await network.send('Network.enable');
  await limit(200_000);
  const list = page.getByRole('list', { name: 'Attachments' });
  const drop = async (name: string) => {
    const data = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([new Uint8Array(2_000_000)], '${name}', { type: 'text/plain' }));
      return transfer;
    })()`);
    for (const type of ['dragenter', 'dragover', 'drop']) await field().dispatchEvent(type, { dataTransfer: data });
  };
  await drop('large.bin');
  const progress = list.getByRole('progressbar', { name: 'Uploading large.bin' });
  await expect
    .poll(() => progress.evaluate((bar) => Number(bar.getAttribute('value'))), { interval: 20 })
    .toBeGreaterThan(4);
  await list.getByText(/^[1-9]\d? %$/).waitFor(visible);
  const cancelled = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/files'));
  await list.getByRole('button', { name: 'Remove large.bin' }).click();
  await cancelled;
  await list.waitFor({ state: 'detached' });

  await limit(-1);
  let refusals = 1;
  await page.route('**/api/v1/files', (route) =>
    (refusals -= 1) < 0
      ? route.continue()
      : route.fulfill({ json: { code: 41301, msg: 'Too large', data: null, request_id: 'r' } }),
  );
  await drop('again.bin');
  await list.getByRole('alert').getByText('Too large', { exact: true }).waitFor(visible);
  await list.getByRole('button', { name: 'Upload again.bin again' }).click();
  await list.getByRole('button', { name: 'Upload again.bin again' }).waitFor({ state: 'detached' });
  await list.locator('[aria-busy="true"]').waitFor({ state: 'detached' });
  expect(await list.getByRole('alert').count()).toBe(0);
  await list.getByRole('button', { name: 'Remove again.bin' }).click();
  await page.unrouteAll();
});
