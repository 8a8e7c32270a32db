/** Providers on the page, at the width of a phone: the directory, registries, refreshes, retired models. */
import { resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { launchBrowser, openPage } from '#support/browser.ts';
import { cloudDuringTest } from '#support/cloud/cloud.ts';
import { createCloudRegistry, registryEntry } from '#support/cloud/registry.ts';
import {
  directoryDuringTest,
  directoryEntry,
  documentAnswer,
  snapshotOf,
  statusAnswer,
} from '#support/model-directory.ts';
import { eventually } from '#support/patience.ts';
import { refreshHome } from '#support/refresh-home.ts';
import type { TestServerOptions } from '#support/server.ts';

const visible = { state: 'visible' } as const;
const hidden = { state: 'hidden' } as const;

const webDirectory = resolve(import.meta.dirname, '../../web/dist');

const catalog = {
  acme: directoryEntry(['large', 'small'], { name: 'Ac\u202eme', env: ['ACME_KEY'] }),
  'a/b': directoryEntry(['wide'], { api: undefined }),
  vendor: directoryEntry(['m'], { npm: '@ai-sdk/cohere' }),
};

/** Starts a server on an empty home with the page at the width of a phone; its directory is that of the test. */
async function open(options: TestServerOptions = {}) {
  const directory = await directoryDuringTest(documentAnswer(catalog));
  const home = await refreshHome('');
  const env = () => ({
    SERVICE_CODE_MODEL_DIRECTORY_URL: directory.url,
    SERVICE_CODE_MODEL_CATALOG_REFRESH_ON_START: '0',
  });
  const server = await home.start({ webDirectory, env, ...options });
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const { page, errors } = await openPage(browser, server);
  await page.setViewportSize({ width: 390, height: 844 });
  return { page, errors, directory, server, text: home.text };
}

const configured = (page: Page, name: string) =>
  page.getByRole('list', { name: 'Your providers' }).locator(':scope > li').filter({ hasText: name });
const offered = (page: Page, name: string) =>
  page.getByRole('list', { name: 'Public providers' }).locator(':scope > li').filter({ hasText: name });
const search = (page: Page) => page.getByRole('searchbox', { name: 'Search all public providers' });

it('finds a provider in the directory, adds it with a key, refreshes and removes it', async () => {
  const { page, errors, directory, text } = await open();
  await page.getByRole('navigation', { name: 'Regions' }).getByRole('button', { name: 'More' }).click();
  await page.getByRole('dialog', { name: 'More' }).getByRole('button', { name: 'Providers' }).click();
  await page.getByText('No providers yet.').waitFor(visible);
  expect(directory.requests).toEqual([]);

  await search(page).focus();
  await offered(page, 'acme').locator('mark', { hasText: '<U+202E>' }).waitFor(visible);
  await offered(page, 'vendor').getByText('It can only be used with a library of its vendor.').waitFor(visible);
  expect(await offered(page, 'vendor').getByRole('button').count()).toBe(0);
  await search(page).fill('wide');
  await offered(page, 'acme').waitFor(hidden);
  await offered(page, 'a/b').getByText('1 model: wide').waitFor(visible);

  await offered(page, 'a/b').getByRole('button', { name: 'Add' }).click();
  const form = page.getByRole('form', { name: 'Add a/b' });
  expect(await form.getByLabel('Name').inputValue()).toBe('a-b');
  const isInvalid = (label: string) => form.getByLabel(label).evaluate((field) => field.matches(':invalid'));
  expect(await isInvalid('Base URL')).toBe(true);
  await form.getByLabel('Base URL').fill('https://b.example/${KEY}');
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  await form.getByLabel('API key').fill('key-b');
  await page.keyboard.press('Enter');
  await form.getByRole('alert').getByText('placeholder-base-url').waitFor(visible);
  await form.getByLabel('Base URL').fill('https://b.example/v1');
  await page.keyboard.press('Enter');
  await page.getByText('a-b: 1 model added').waitFor(visible);
  await configured(page, 'a-b').getByText('ready').waitFor(visible);
  await configured(page, 'a-b').getByText('openai · https://b.example/v1').waitFor(visible);
  await offered(page, 'a/b').getByText('added', { exact: true }).waitFor(visible);
  // The first one becomes the default.
  await configured(page, 'a-b').getByText('default', { exact: true }).first().waitFor(visible);
  expect(await text()).toContain('key-b');

  await search(page).fill('acme');
  await offered(page, 'acme').getByRole('button', { name: 'Add' }).click();
  await page.keyboard.press('Enter');
  await configured(page, 'acme').getByText('no key').waitFor(visible);
  await configured(page, 'acme').getByText('2 models').click();
  await configured(page, 'acme').getByRole('button', { name: 'Make small the default' }).click();
  await configured(page, 'acme').getByText('default', { exact: true }).first().waitFor(visible);

  await page.getByRole('button', { name: 'Refresh all' }).click();
  await page.getByText('2 providers unchanged').waitFor(visible);
  await configured(page, 'a-b').getByRole('button', { name: 'Refresh' }).click();
  await page.getByText('1 provider unchanged').waitFor(visible);

  await configured(page, 'acme').getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('button', { name: 'Remove it' }).click();
  await configured(page, 'acme').waitFor(hidden);
  await eventually(async () => expect(await page.locator(':focus').textContent()).toBe('Your providers'));
  expect(directory.requests).toHaveLength(1);
  expect(errors).toEqual([]);
});

it('offers the snapshot without a network, and a retry without either', async () => {
  let snapshot: object | undefined;
  const { page, directory } = await open({
    modelSnapshot: async () => (snapshot === undefined ? undefined : snapshotOf(snapshot)()),
  });
  directory.answer = statusAnswer(503);
  await page.goto(`${page.url().replace(/#.*/, '')}#/providers`);
  await search(page).focus();
  await page.getByRole('alert').waitFor(visible);
  snapshot = catalog;
  await page.getByRole('button', { name: 'Try again' }).click();
  await offered(page, 'vendor').waitFor(visible);
  await page.getByRole('alert').waitFor(hidden);
});

it('imports a registry, refreshes it, and displays which models it retires and why', async () => {
  const upgrade = {
    model: 'new',
    migration_markdown: '**{{from}}** ends.\n\n- [Why](https://why.test/)\n- ![x](https://why.test/x.png) <b id="raw">',
    retirement_at: '2027-02-03T00:00:00Z',
  };
  const registry = createCloudRegistry({
    ours: registryEntry('ours', { old: { name: 'Old', upgrade }, new: { name: 'New' } }),
  });
  registry.keys = ['registry-key'];
  const cloud = await cloudDuringTest(registry.part);
  const { page, errors } = await open();
  await page.goto(`${page.url().replace(/#.*/, '')}#/providers`);
  const form = page.getByRole('region', { name: 'Import a registry' });
  await form.getByLabel('Address').fill(`${cloud.url}/registry.json`);
  await page.keyboard.press('Enter');
  await form.getByRole('alert').getByText('is not valid').waitFor(visible);
  await form.getByLabel('Key').fill('registry-key');
  await page.keyboard.press('Enter');
  await page.getByText('ours: 2 models added').waitFor(visible);
  expect(await form.getByLabel('Key').inputValue()).toBe('');

  const retiring = page.getByRole('list', { name: 'Models that are being retired' }).locator(':scope > li');
  await retiring.getByText('retires on 2027-02-03').waitFor(visible);
  await retiring.getByText('Replaced by New').waitFor(visible);
  expect(await retiring.getByRole('link', { name: 'Why' }).getAttribute('href')).toBe('https://why.test/');
  expect(await retiring.locator('img, #raw').count()).toBe(0);
  await retiring.getByRole('button', { name: 'Make New the default' }).click();
  await retiring.getByRole('button').waitFor(hidden);

  registry.document = { ours: registryEntry('ours', { new: { name: 'New' }, extra: {} }) };
  await configured(page, 'ours').getByRole('button', { name: 'Refresh' }).click();
  await page.getByText('1 model added, 1 removed').waitFor(visible);
  await retiring.waitFor(hidden);
  registry.answerNext({ status: 500 });
  await page.getByRole('button', { name: 'Refresh all' }).click();
  await page.getByRole('status', { name: 'Result' }).locator('.bad').waitFor(visible);
  expect(errors).toEqual([]);
});
