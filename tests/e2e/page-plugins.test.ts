/** Plugins on the page: the built page on the built server, in a real browser, in two windows. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { launchBrowser, openPage } from '#support/browser.ts';
import { eventually } from '#support/patience.ts';
import { spawnServer } from '#support/spawned-server.ts';

const visible = { state: 'visible' } as const;
const hidden = { state: 'hidden' } as const;

async function temporaryRoot(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'service-code-page-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  return root;
}

/** Writes a plugin with a skill, a command, a hook and two servers; returns its folder. */
async function writePlugin(folder: string, manifest: object): Promise<string> {
  await mkdir(join(folder, 'skills', 'greet'), { recursive: true });
  await mkdir(join(folder, 'commands'), { recursive: true });
  await writeFile(join(folder, 'skills', 'greet', 'SKILL.md'), '---\nname: greet\ndescription: Greets.\n---\nHello.\n');
  await writeFile(join(folder, 'commands', 'wave.md'), 'Wave.\n');
  const contents = {
    skills: './skills',
    commands: './commands',
    hooks: [{ event: 'Stop', command: 'true' }],
    mcpServers: { one: { command: 'one' }, two: { command: 'two', enabled: false } },
  };
  await writeFile(join(folder, 'service.plugin.json'), JSON.stringify({ ...contents, ...manifest }));
  return folder;
}

/** Starts the built server with two windows that display its plugins. */
async function startWindows(root: string, env: Record<string, string> = {}) {
  const server = await spawnServer({ home: join(root, 'home'), env });
  onTestFinished(() => server.close());
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const windows = [await openPage(browser, server), await openPage(browser, server)] as const;
  for (const { page } of windows) await page.getByRole('button', { name: 'Plugins', exact: true }).click();
  const pages = [windows[0].page, windows[1].page] as const;
  return { pages, errors: () => windows.flatMap(({ errors }) => errors) };
}

const installed = (page: Page, name: string) =>
  page.getByRole('list', { name: 'Installed plugins' }).locator(':scope > li').filter({ hasText: name });
const offered = (page: Page, name: string) =>
  page.getByRole('list', { name: 'Plugins of the catalog' }).locator(':scope > li').filter({ hasText: name });
const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true });

const isFocused = async (page: Page, name: string) => (await page.locator(':focus').textContent())?.trim() === name;

it('installs from a folder, switches, updates and removes with the keyboard, as another window displays', async () => {
  const root = await temporaryRoot();
  const folder = await writePlugin(join(root, 'greetings'), {
    name: 'greetings',
    version: '1.0.0',
    interface: { displayName: 'Greet\u202eings' },
  });
  const { pages, errors } = await startWindows(root);
  const [page, other] = pages;
  await page.getByText('No catalog is configured.').waitFor(visible);
  await page.getByText('A plugin runs programs as you').waitFor(visible);
  await other.getByText('No plugins yet.').waitFor(visible);

  const source = page.getByLabel('Folder, zip address or repository');
  await source.fill('plugins/greetings');
  await source.press('Enter');
  await page
    .getByRole('alert')
    .getByText('Plugin root must be an absolute path (got "plugins/greetings")')
    .waitFor(visible);
  expect(await source.inputValue()).toBe('plugins/greetings');
  await source.fill(`  ${folder} `);
  await source.press('Enter');
  for (const each of pages) {
    const item = installed(each, 'greetings');
    await item.getByText('1 skill · 1 command · 1 hook · 1 of 2 MCP servers').waitFor(visible);
    await item.getByText('enabled', { exact: true }).waitFor(visible);
    await item.getByText('1.0.0', { exact: true }).waitFor(visible);
    await item.getByText(folder).waitFor(visible);
    await item.locator('mark', { hasText: '<U+202E>' }).waitFor(visible);
  }
  await eventually(async () => expect(await source.inputValue()).toBe(''));

  await installed(page, 'greetings').getByRole('button', { name: 'Disable' }).focus();
  await page.keyboard.press('Enter');
  for (const each of pages) await installed(each, 'greetings').getByText('disabled', { exact: true }).waitFor(visible);
  // The same button has the focus.
  await page.keyboard.press('Enter');
  for (const each of pages) await installed(each, 'greetings').getByText('enabled', { exact: true }).waitFor(visible);

  const manifest = join(folder, 'service.plugin.json');
  await writeFile(manifest, (await readFile(manifest, 'utf8')).replace('1.0.0', '1.1.0'));
  await page.keyboard.press('Tab');
  expect(await isFocused(page, 'Update')).toBe(true);
  await page.keyboard.press('Enter');
  for (const each of pages) await installed(each, 'greetings').getByText('1.1.0', { exact: true }).waitFor(visible);

  await writeFile(manifest, '{ not json');
  await page.keyboard.press('Enter');
  await installed(page, 'greetings').getByRole('alert').getByText('Cannot install plugin').waitFor(visible);
  await installed(other, 'greetings').getByText('1.1.0', { exact: true }).waitFor(visible);

  await page.keyboard.press('Tab');
  expect(await isFocused(page, 'Remove')).toBe(true);
  await page.keyboard.press('Enter');
  expect(await isFocused(page, 'Keep it')).toBe(true);
  await page.keyboard.press('Escape');
  expect(await isFocused(page, 'Remove')).toBe(true);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  expect(await isFocused(page, 'Remove it')).toBe(true);
  await page.keyboard.press('Enter');
  for (const each of pages) {
    await installed(each, 'greetings').waitFor(hidden);
    await each.getByText('No plugins yet.').waitFor(visible);
  }
  await eventually(async () => expect(await isFocused(page, 'Installed')).toBe(true));
  expect(errors()).toEqual([]);
});

it('offers the plugins of a catalog with their tiers, installs them, and updates them to a newer version', async () => {
  const root = await temporaryRoot();
  const catalog = join(root, 'marketplace.json');
  const writeCatalog = async (version: string) => {
    const greetings = { id: 'greetings', tier: 'official', source: './greetings', version, description: 'Greets.' };
    const third = { id: 'third', source: 'https://example.org/third.zip', homepage: 'javascript:alert(1)' };
    await writePlugin(join(root, 'greetings'), { name: 'greetings', version });
    await writeFile(catalog, JSON.stringify({ plugins: [greetings, third] }));
  };
  await writeCatalog('1.0.0');
  const { pages, errors } = await startWindows(root, { SERVICE_CODE_PLUGIN_MARKETPLACE_URL: catalog });
  const [page, other] = pages;
  await offered(page, 'greetings').getByText('official').waitFor(visible);
  await offered(page, 'third').getByText('third party').waitFor(visible);
  expect(await offered(page, 'third').getByRole('link').count()).toBe(0);
  await offered(page, 'greetings').getByRole('button', { name: 'Install' }).click();
  for (const each of pages) {
    await offered(each, 'greetings').getByText('installed 1.0.0').waitFor(visible);
    await installed(each, 'greetings').getByText('enabled', { exact: true }).waitFor(visible);
    expect(await offered(each, 'greetings').getByRole('button').count()).toBe(0);
  }

  await writeCatalog('1.1.0');
  await installed(page, 'greetings').getByRole('button', { name: 'Disable' }).click();
  for (const each of pages) {
    await offered(each, 'greetings').getByText('installed 1.0.0, disabled').waitFor(visible);
    await offered(each, 'greetings').getByRole('button', { name: 'Update to 1.1.0' }).waitFor(visible);
  }
  await installed(other, 'greetings').getByRole('button', { name: 'Update to 1.1.0' }).click();
  for (const each of pages) {
    // A disabled plugin stays so.
    await offered(each, 'greetings').getByText('installed 1.1.0, disabled').waitFor(visible);
    expect(await offered(each, 'greetings').getByRole('button').count()).toBe(0);
  }

  await writeFile(catalog, '{ "plugins": 7 }');
  await page.reload();
  await page.getByText('Plugin marketplace returned an invalid catalog').waitFor(visible);
  await installed(page, 'greetings').waitFor(visible);
  await writeCatalog('1.1.0');
  await page.getByRole('button', { name: 'Try again' }).click();
  await heading(page, 'Marketplace').waitFor(visible);
  await offered(page, 'third').waitFor(visible);
  expect(errors()).toEqual([]);
});

it('displays an unreadable list of plugins as such, next to the capabilities', async () => {
  const root = await temporaryRoot();
  await mkdir(join(root, 'home', 'plugins'), { recursive: true });
  await writeFile(join(root, 'home', 'plugins', 'installed.json'), '{ "version": 2 }');
  const { pages } = await startWindows(root);
  const [page] = pages;
  await page.getByRole('alert').getByText('Plugin state failed to load').first().waitFor(visible);
  await page.getByRole('list', { name: 'Capabilities' }).getByText('Service WebBridge').waitFor(visible);
});
