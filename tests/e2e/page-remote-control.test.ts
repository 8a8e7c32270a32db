/** Remote control on the page: its switch, the holder, the address with its QR code, and the devices. */
import { resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { launchBrowser, openPage } from '#support/browser.ts';
import { startRemote } from '#support/cloud/remote-server.ts';
import { eventually } from '#support/patience.ts';

const visible = { state: 'visible' } as const;
const hidden = { state: 'hidden' } as const;

const webDirectory = resolve(import.meta.dirname, '../../web/dist');

async function openBrowser(): Promise<Browser> {
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  return browser;
}

/** Opens the view at the width of a phone. */
async function openView(browser: Browser, server: { url: string; token: string }) {
  const opened = await openPage(browser, server);
  await opened.page.setViewportSize({ width: 390, height: 844 });
  await opened.page.getByRole('navigation', { name: 'Regions' }).getByRole('button', { name: 'More' }).click();
  await opened.page.getByRole('dialog', { name: 'More' }).getByRole('button', { name: 'Remote control' }).click();
  return opened;
}

const control = (page: Page) => page.getByRole('switch', { name: 'Remote control' });
const device = (page: Page, name: string) =>
  page.getByRole('list', { name: 'Devices' }).locator(':scope > li').filter({ hasText: name });

it('turns on, displays the address with the token only on a click, and manages the device', async () => {
  const remote = await startRemote({ webDirectory });
  const { server, relay } = remote;
  const { page, errors } = await openView(await openBrowser(), server);
  await page.getByText('No devices yet.').waitFor(visible);
  expect(await control(page).getAttribute('aria-checked')).toBe('false');
  await control(page).click();
  await page.getByText('On', { exact: true }).waitFor(visible);
  expect(await control(page).getAttribute('aria-checked')).toBe('true');

  await page.getByText(relay.url).waitFor(visible);
  expect(await page.content()).not.toContain(server.token);
  expect(await page.getByRole('img', { name: 'QR code' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Show the address with the token' }).click();
  const address = await page.getByLabel('Address with the token', { exact: true }).textContent();
  expect(address).toBe(`${relay.url}/devices/${relay.tunnel().deviceId}/?rc=1#token=${server.token}`);
  await page.getByRole('img', { name: 'QR code' }).waitFor(visible);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  await page.getByRole('button', { name: 'Hide the address' }).click();
  await page.getByRole('img', { name: 'QR code' }).waitFor(hidden);
  expect(await page.content()).not.toContain(server.token);

  const own = device(page, 'this machine');
  await own.getByText('online').waitFor(visible);
  await own.getByRole('button', { name: 'Rename' }).click();
  await page.keyboard.type('x'.repeat(51));
  await page.keyboard.press('Enter');
  await own.getByRole('alert').getByText('at most 50 characters').waitFor(visible);
  await own.getByRole('textbox', { name: 'Name' }).fill('  My desk ');
  await page.keyboard.press('Enter');
  await own.getByText('My desk').waitFor(visible);
  // The focus returns to the button.
  await eventually(async () => expect(await page.locator(':focus').textContent()).toContain('Rename'));

  await own.getByRole('button', { name: 'Deactivate' }).click();
  await own.getByRole('button', { name: 'Turn off and deactivate' }).click();
  await page.getByText('Off', { exact: true }).waitFor(visible);
  await own.getByText('offline').waitFor(visible);
  await own.getByRole('button', { name: 'Remove' }).click();
  await own.getByRole('button', { name: 'Turn off and remove' }).click();
  await own.waitFor(hidden);
  await page.getByText('No devices yet.').waitFor(visible);
  expect(errors).toEqual([]);
});

it('names the server that hosts remote control already, and starts after it has stopped', async () => {
  const first = await startRemote({ webDirectory });
  const second = await startRemote({ webDirectory, cloud: first, home: first.server.home, loggedIn: false });
  const { page, errors } = await openView(await openBrowser(), second.server);
  await page.getByText('Off', { exact: true }).waitFor(visible);
  await first.start();
  await control(page).click();
  const holder = page.getByRole('alert').filter({ hasText: 'Another server of this machine' });
  await holder.getByText(first.server.url).waitFor(visible);
  await holder.getByText(first.relay.url).waitFor(visible);
  expect(await control(page).getAttribute('aria-checked')).toBe('false');

  await first.stop();
  await page.getByRole('button', { name: 'Check again' }).click();
  await holder.waitFor(hidden);
  await control(page).click();
  await page.getByText('On', { exact: true }).waitFor(visible);
  await control(page).click();
  await page.getByText('Off', { exact: true }).waitFor(visible);
  expect(errors).toEqual([]);
});

it('leads to the account without a login, and displays why a start has failed', async () => {
  const remote = await startRemote({ webDirectory, loggedIn: false });
  const { page } = await openView(await openBrowser(), remote.server);
  await page.getByText('Log in to see the devices of your account.').waitFor(visible);
  await control(page).click();
  await page.getByRole('alert').getByText('Remote control needs a login.').waitFor(visible);
  await page.getByRole('button', { name: 'Go to the account' }).click();
  await page.getByRole('heading', { name: 'Account' }).waitFor(visible);

  await remote.logIn(remote.server.home);
  remote.relay.maxDevices = 0;
  await page.goto(`${remote.server.url}/#/remote-control`);
  await eventually(async () => {
    await control(page).click();
    await page.getByText('Off', { exact: true }).waitFor(visible);
    expect(await page.getByRole('alert').allTextContents()).toEqual([expect.stringContaining('device')]);
  });
});
