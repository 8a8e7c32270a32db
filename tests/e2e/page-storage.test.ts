/** Data that the page keeps in the browser: unsent prompts, and the token for a new tab. Build the page first. */
import { resolve } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { launchBrowser } from '#support/browser.ts';
import { PATIENCE_MS, until } from '#support/patience.ts';
import { startServer, type TestServer } from '#support/server.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const webDirectory = resolve(import.meta.dirname, '../../web/dist');

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

/** Starts a server; with `port`, at the address of an earlier one. */
async function serverDuringTest(home: string, port = 0): Promise<TestServer> {
  const server = await startServer({ home, port, webDirectory });
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= server.close());
  onTestFinished(close);
  return { ...server, close };
}

const portOf = ({ url }: TestServer) => Number(new URL(url).port);

async function contextDuringTest(): Promise<BrowserContext> {
  const context = await browser.newContext();
  context.setDefaultTimeout(PATIENCE_MS);
  onTestFinished(() => context.close());
  return context;
}

async function newSession(server: TestServer): Promise<string> {
  const { data } = await server.api('POST', '/sessions', { title: 'Unsent', metadata: { cwd: server.home } });
  return z.object({ id: z.string() }).parse(data).id;
}

/** A page in a browser of its own, with a new session of the server. */
async function pageWithSession(server: TestServer): Promise<Page> {
  const session = await newSession(server);
  const page = await (await contextDuringTest()).newPage();
  await page.goto(`${server.url}/#token=${server.token}`);
  await sessions(page).waitFor();
  await page.goto(`${server.url}/#/s/${session}`);
  await page.getByRole('heading', { name: 'Unsent' }).waitFor();
  return page;
}

const prompt = (page: Page) => page.getByRole('textbox', { name: 'Prompt' });
const attached = (page: Page) => page.getByRole('list', { name: 'Attachments' }).getByText('notes.txt');
const question = (page: Page) => page.getByRole('heading', { name: 'This server needs its token' });
const sessions = (page: Page) => page.getByRole('button', { name: 'New session', exact: true }).first();

/** Pastes a file into the prompt. */
async function paste(page: Page): Promise<void> {
  await prompt(page).focus();
  await page.evaluate(`{
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File(['secret plan'], 'notes.txt', { type: 'text/plain' }));
    const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
    document.activeElement.dispatchEvent(event);
  }`);
}

/** Makes the storing of drafts by other pages wait; returns the function that lets it go on. */
async function blockDrafts(page: Page): Promise<() => Promise<void>> {
  await page.evaluate(`new Promise(async (resolve) => {
    const [{ name }] = (await indexedDB.databases()).filter(({ name }) => name.includes('drafts'));
    indexedDB.open(name).onsuccess = ({ target: { result: database } }) => {
      const store = database.transaction('drafts', 'readwrite').objectStore('drafts');
      window.isBlocked = true;
      const read = () => {
        store.get('').onsuccess = () => (window.isBlocked ? read() : database.close());
        resolve();
      };
      read();
    };
  })`);
  return () => page.evaluate('void (window.isBlocked = false)');
}

it('keeps an unsent prompt and its files over a reload, also of what was typed while the server was away', async () => {
  const home = await temporaryHome();
  const server = await serverDuringTest(home);
  const page = await pageWithSession(server);
  await prompt(page).fill('Read the notes');
  await server.close();
  await page.getByText('The server does not answer.').waitFor();
  // What was read stays.
  expect(await page.getByRole('heading', { name: 'Unsent' }).isVisible()).toBe(true);
  await prompt(page).fill('Read the notes again');
  await paste(page);
  await attached(page).waitFor();

  await serverDuringTest(home, portOf(server));
  await page.reload();
  await attached(page).waitFor();
  expect(await prompt(page).inputValue()).toBe('Read the notes again');
  await page.getByRole('button', { name: 'Remove notes.txt' }).click();
  await prompt(page).fill('');
  await page.reload();
  await prompt(page).waitFor();
  expect(await attached(page).count()).toBe(0);
  expect(await prompt(page).inputValue()).toBe('');
});

it('keeps the last character that was typed before the page was left', async () => {
  const home = await temporaryHome();
  const server = await serverDuringTest(home);
  const page = await pageWithSession(server);
  await prompt(page).fill('stored');
  const other = await page.context().newPage();
  await other.goto(server.url);
  const release = await blockDrafts(other);
  await prompt(page).press('Home');
  for (const key of ['a', 'b', 'c']) await prompt(page).press(key);
  await page.reload();
  await release();
  await until(async () => (await prompt(page).inputValue()) !== '');
  expect(await prompt(page).inputValue()).toBe('abcstored');
});

it('keeps the text of the database when the browser has no room for what was typed last', async () => {
  const server = await serverDuringTest(await temporaryHome());
  const page = await pageWithSession(server);
  await prompt(page).fill('stored');
  const other = await page.context().newPage();
  await other.goto(server.url);
  const release = await blockDrafts(other);
  await prompt(page).fill('being stored');
  await prompt(page).fill('kept');
  const kept = `JSON.stringify(Object.values(localStorage))`;
  await until(async () => (await page.evaluate<string>(kept)).includes('kept'), 'the kept text');
  await page.evaluate(`Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }`);
  await prompt(page).fill('a longer text');
  await release();
  const text = `new Promise(async (resolve) => {
    const [{ name }] = (await indexedDB.databases()).filter(({ name }) => name.includes('drafts'));
    indexedDB.open(name).onsuccess = ({ target: { result: database } }) => {
      database.transaction('drafts').objectStore('drafts').getAll().onsuccess = ({ target: { result: all } }) => {
        database.close();
        resolve(JSON.stringify(all));
      };
    };
  })`;
  await until(async () => (await other.evaluate<string>(text)).includes('a longer text'), 'the text in the database');
  await page.reload();
  await until(async () => (await prompt(page).inputValue()) !== '');
  expect(await prompt(page).inputValue()).toBe('a longer text');
});

it('a new tab gets the token of an open one, whose server is then known to be there', async () => {
  const home = await temporaryHome();
  const server = await serverDuringTest(home);
  const context = await contextDuringTest();
  const first = await context.newPage();
  await first.goto(`${server.url}/#token=${server.token}`);
  await sessions(first).waitFor();
  const second = await context.newPage();
  await second.goto(server.url);
  await sessions(second).waitFor();
  expect(await question(second).count()).toBe(0);
  await second.close();

  // Another program at the same address receives no token from the new tab.
  await server.close();
  const other = await serverDuringTest(await temporaryHome(), portOf(server));
  const carried: (string | undefined)[] = [];
  const third = await context.newPage();
  third.on('request', (request) => carried.push(request.headers()['authorization']));
  await third.goto(other.url);
  await question(third).waitFor();
  expect(carried.filter((header) => header !== undefined)).toEqual([]);
  await until(() => first.isVisible('text=This server needs its token'), 'the question of the first tab');
});
