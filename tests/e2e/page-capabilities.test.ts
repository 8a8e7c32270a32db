/** Capabilities on the page: the built page on a server in the test's process, which has a capability of the test. */
import { resolve } from 'node:path';
import type { WebSocketRoute } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import type { CapabilityStep } from '#schema/rest/capability.ts';
import { launchBrowser, openPage } from '#support/browser.ts';
import { fakeCapability } from '#support/capabilities.ts';
import { until } from '#support/patience.ts';
import { startServer } from '#support/server.ts';

const visible = { state: 'visible' } as const;
const hidden = { state: 'hidden' } as const;

it('displays steps and the progress of an installation in every window, and works with the keyboard', async () => {
  let steps: CapabilityStep[] = [
    { id: 'program', state: 'missing' },
    { id: 'extension', state: 'failed', detail: 'no ans\u200bwer', optional: true },
  ];
  let detections = 0;
  const fake = fakeCapability('fake', async () => {
    detections += 1;
    return { steps };
  });
  const server = await startServer({
    capabilities: [fake, { id: 'other', displayName: 'Other', description: 'Not here.' }],
    webDirectory: resolve(import.meta.dirname, '../../web/dist'),
  });
  onTestFinished(() => server.close());
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const first = await openPage(browser, server);
  const second = await openPage(browser, server);
  for (const { page } of [first, second]) {
    await page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: 'Plugins' }).click();
  }
  const itemIn = (page: typeof first.page, name: string) =>
    page.getByRole('list', { name: 'Capabilities' }).locator(':scope > li').filter({ hasText: name });
  const pages = [first.page, second.page];

  const other = itemIn(first.page, 'Other');
  await other.getByText('not available on this machine').waitFor(visible);
  expect(await other.getByRole('button').count()).toBe(0);
  const item = itemIn(first.page, 'Fake fake');
  await item.getByText('not installed').waitFor(visible);
  await item.getByText('extension (optional)').waitFor(visible);
  await item.locator('mark', { hasText: '<U+200B>' }).waitFor(visible);

  await item.getByRole('button', { name: 'Install' }).focus();
  await first.page.keyboard.press('Enter');
  const install = await until(() => fake.installs[0]);
  for (const page of pages) {
    const bar = itemIn(page, 'Fake fake').getByRole('progressbar');
    await bar.waitFor(visible);
    expect(await bar.getAttribute('value')).toBeNull();
    expect(await itemIn(page, 'Fake fake').getByRole('button').count()).toBe(0);
  }
  const before = detections;
  for (let percent = 0; percent <= 42; percent += 1) install.report({ step: 'download', percent });
  for (const page of pages) {
    await itemIn(page, 'Fake fake').getByText('download … 42 %').waitFor(visible);
    expect(await itemIn(page, 'Fake fake').getByRole('progressbar').getAttribute('value')).toBe('42');
  }
  // Progress arrives with the events; it causes no detection.
  expect(detections).toBe(before);
  install.fail(new Error('no space'));
  for (const page of pages) await itemIn(page, 'Fake fake').getByText('no space').waitFor(visible);

  await itemIn(second.page, 'Fake fake').getByRole('button', { name: 'Install' }).click();
  const again = await until(() => fake.installs[1]);
  await item.getByText('no space').waitFor(hidden);
  steps = [{ id: 'program', state: 'ok', detail: '1.2' }];
  again.succeed();
  for (const page of pages) {
    await itemIn(page, 'Fake fake').getByText('ready').waitFor(visible);
    await itemIn(page, 'Fake fake').getByRole('button', { name: 'Update' }).waitFor(visible);
  }
  expect([...first.errors, ...second.errors]).toEqual([]);
});

it('displays an installation that runs already, and its end after a lost connection', async () => {
  const fake = fakeCapability();
  const server = await startServer({
    capabilities: [fake],
    webDirectory: resolve(import.meta.dirname, '../../web/dist'),
  });
  onTestFinished(() => server.close());
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  await server.api('POST', '/capabilities/fake:install');
  fake.installs[0]?.report({ step: 'unpack' });
  const { page } = await openPage(browser, server);
  const sockets: WebSocketRoute[] = [];
  await page.routeWebSocket(/\/api\/v1\/ws$/, (socket) => {
    socket.connectToServer();
    sockets.push(socket);
  });
  await page.goto(`${server.url}/#/plugins`);
  await page.reload();
  await page.getByText('unpack …').waitFor(visible);
  await sockets.at(-1)?.close();
  // The page connects again after a second, and has missed this event.
  fake.installs[0]?.fail(new Error('no space'));
  await until(() => sockets.length === 2);
  await page.getByText('no space').waitFor(visible);
});

it('requests nothing for its view while the token is refused, and reads it with the right one', async () => {
  const server = await startServer({
    capabilities: [fakeCapability()],
    webDirectory: resolve(import.meta.dirname, '../../web/dist'),
  });
  onTestFinished(() => server.close());
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const { page, requests } = await openPage(browser, { url: server.url, token: 'wrong' });
  await page.goto(`${server.url}/#/plugins`);
  await page.reload();
  const dialog = page.getByRole('dialog');
  await dialog.waitFor(visible);
  // Hidden from assistive technology while the dialog is open.
  await page.locator('h1', { hasText: 'Plugins' }).waitFor(visible);
  expect(requests.filter((request) => /plugins|capabilities/.test(request))).toEqual([]);
  await dialog.getByRole('textbox').fill(server.token);
  await page.keyboard.press('Enter');
  await page.getByText('Fake fake').waitFor(visible);
});
