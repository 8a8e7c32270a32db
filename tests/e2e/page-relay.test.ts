/** The page below a base: through a relay, and at a path of the server's own. Build the page first. */
import { resolve } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { launchBrowser } from '#support/browser.ts';
import { startRemote, type Remote } from '#support/cloud/remote-server.ts';
import { PATIENCE_MS } from '#support/patience.ts';

const WEB = resolve(import.meta.dirname, '../../web/dist');

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

interface Visit {
  page: Page;
  /** Errors of scripts and of the console. */
  errors: string[];
  /** `METHOD /path` of each request. */
  requests: string[];
}

async function started(): Promise<{ remote: Remote; base: string; context: BrowserContext; sessionId: string }> {
  const remote = await startRemote({ webDirectory: WEB });
  expect(await remote.start()).toMatchObject({ data: { state: 'on' } });
  const { data } = await remote.server.api('POST', '/sessions', {
    title: 'Far away',
    metadata: { cwd: remote.server.home },
  });
  // The size of a phone.
  const context = await browser.newContext({ viewport: { width: 390, height: 800 } });
  onTestFinished(() => context.close());
  const sessionId = (data as { id: string }).id;
  return { remote, base: `${remote.relay.url}${remote.relay.prefix()}`, context, sessionId };
}

async function visit(context: BrowserContext, url: string): Promise<Visit> {
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const errors: string[] = [];
  const requests: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => void (message.type() === 'error' && errors.push(message.text())));
  page.on('request', (request) => requests.push(`${request.method()} ${new URL(request.url()).pathname}`));
  await page.goto(url);
  return { page, errors, requests };
}

const title = (page: Page) => page.getByRole('heading', { name: 'Far away' });
const newSession = (page: Page) => page.getByRole('button', { name: 'New session', exact: true }).first();
const question = (page: Page) => page.getByRole('heading', { name: 'This server needs its token' });
/** A phone displays one region at a time. */
const showSessions = (page: Page) =>
  page.getByRole('navigation', { name: 'Regions' }).getByRole('button', { name: 'Sessions' }).click();
const stays = (page: Page) => page.getByRole('checkbox', { name: 'Remember on this device' });

it('opens a session through a relay, with every request below the device’s path', async () => {
  const { remote, base, context, sessionId } = await started();
  const { token } = remote.server;
  const { page, errors, requests } = await visit(context, `${base}/sessions/${sessionId}?rc=1#token=${token}`);
  await title(page).waitFor();
  const prefix = remote.relay.prefix();
  expect(new URL(page.url())).toMatchObject({ pathname: `${prefix}/`, search: '?rc=1', hash: `#/s/${sessionId}` });
  expect(requests.filter((request) => !request.includes(` ${prefix}/`))).toEqual([]);
  // The WebSocket as well.
  await expect.poll(() => remote.server.app.connections.list().length).toBe(1);
  await showSessions(page);
  await newSession(page).waitFor();
  await page.evaluate(`location.hash = '#/'`);
  expect(new URL(page.url()).search).toBe('?rc=1');
  await page.reload();
  await newSession(page).waitFor();
  expect(await question(page).count()).toBe(0);
  // Several devices may share the origin.
  const names: string[] = await page.evaluate(`indexedDB.databases().then((databases) =>
    [...databases.map(({ name }) => name), ...Object.keys(localStorage), ...Object.keys(sessionStorage)])`);
  expect(names).toContain(`service-code.drafts${prefix}/`);
  expect(names.filter((name) => !name.endsWith(`${prefix}/`))).toEqual([]);
  expect(errors).toEqual([]);
});

it('requires the token in another tab, unless it stays on the device, for one base only', async () => {
  const { remote, base, context } = await started();
  const { token } = remote.server;
  const { page } = await visit(context, `${base}/?rc=1#token=${token}`);
  await showSessions(page);
  await stays(page).waitFor();
  expect(await stays(page).isChecked()).toBe(false);
  await page.close();
  const second = await visit(context, `${base}/?rc=1`);
  await question(second.page).waitFor();
  await second.page.close();

  const again = await visit(context, `${base}/?rc=1#token=${token}`);
  await showSessions(again.page);
  await stays(again.page).check();
  await again.page.getByText('while the relay is signed in').waitFor();
  await again.page.close();
  const third = await visit(context, `${base}/?rc=1`);
  await showSessions(third.page);
  await stays(third.page).waitFor();
  expect(await stays(third.page).isChecked()).toBe(true);
  expect(await question(third.page).count()).toBe(0);
  const local = await visit(context, `${remote.server.url}/`);
  await question(local.page).waitFor();

  await stays(third.page).uncheck();
  await third.page.close();
  const fourth = await visit(context, `${base}/?rc=1`);
  await question(fourth.page).waitFor();
});

it('at the port: opens a session by its path; the page displays who could use a token that stays', async () => {
  const { remote, context, sessionId } = await started();
  const { page, errors } = await visit(
    context,
    `${remote.server.url}/sessions/${sessionId}#token=${remote.server.token}`,
  );
  await title(page).waitFor();
  expect(new URL(page.url())).toMatchObject({ pathname: '/', search: '', hash: `#/s/${sessionId}` });
  expect(errors).toEqual([]);
  await page.close();
  const { page: other } = await visit(context, `${remote.server.url}/sessions/${sessionId}`);
  await question(other).waitFor();
  const dialog = other.getByRole('dialog');
  expect(await dialog.getByText('any program that answers at this address').count()).toBe(0);
  await dialog.getByRole('checkbox', { name: 'Remember on this device' }).check();
  await dialog.getByText('any program that answers at this address').waitFor();
  await other.getByRole('textbox', { name: 'Token' }).fill(remote.server.token);
  await other.getByRole('button', { name: 'Connect' }).click();
  await title(other).waitFor();
  const { page: third } = await visit(context, `${remote.server.url}/`);
  await showSessions(third);
  await stays(third).waitFor();
  expect(await stays(third).isChecked()).toBe(true);
});
