/** The account on the page: login, usage, user, logout, and generated titles. */
import { resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { stringify } from '@decimalturn/toml-patch';
import { launchBrowser, openPage } from '#support/browser.ts';
import { cloudDuringTest } from '#support/cloud/cloud.ts';
import { createCloudDeviceGrant, oauthError } from '#support/cloud/device-grant.ts';
import { createCloudManagedApi } from '#support/cloud/managed-api.ts';
import { createCloudOAuth } from '#support/cloud/oauth.ts';
import { startModelServer } from '#support/model-server.ts';
import { eventually } from '#support/patience.ts';
import { refreshHome } from '#support/refresh-home.ts';

const visible = { state: 'visible' } as const;
const hidden = { state: 'hidden' } as const;

/** Starts a server of a scripted cloud and a browser; `config` is the home's configuration. */
async function open(config = '') {
  const oauth = createCloudOAuth();
  const grant = createCloudDeviceGrant(oauth, { interval: 1 });
  const managed = createCloudManagedApi(oauth);
  const cloud = await cloudDuringTest(grant.part, oauth.part, managed.part);
  const home = await refreshHome(config, cloud.url);
  const server = await home.start({ webDirectory: resolve(import.meta.dirname, '../../web/dist') });
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const window = async (width = 390) => {
    const opened = await openPage(browser, server);
    await opened.page.setViewportSize({ width, height: 844 });
    return opened;
  };
  return { grant, managed, cloud, home, server, window };
}

/** A phone has the views in a sheet. */
async function show(page: Page) {
  if ((page.viewportSize()?.width ?? 0) > 720) {
    return page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: 'Account' }).click();
  }
  await page.getByRole('navigation', { name: 'Regions' }).getByRole('button', { name: 'More' }).click();
  await page.getByRole('dialog', { name: 'More' }).getByRole('button', { name: 'Account' }).click();
}

it('logs in with a code in two windows, displays the usage and the user, and logs out', async () => {
  const { grant, managed, cloud, window } = await open();
  managed.answers['/usages'] = {
    body: {
      usages: { limit5h: { usedRatio: 0.25, resetAt: new Date(Date.now() + 7_100_000).toISOString() } },
      extraUsage: null,
    },
  };
  managed.answers['/me'] = {
    body: { user_id: 'u1', nickname: 'A\u202eda', user_level_name: 'Pro', avatar: 'https://x.test/a.png' },
  };
  const [{ page, errors }, other] = [await window(), await window()];
  for (const each of [page, other.page]) await show(each);
  await page.getByText('Not logged in').waitFor(visible);
  await page.getByRole('button', { name: /^Region/ }).waitFor(visible);
  await page.getByRole('button', { name: 'Log in' }).click();
  const code = await page.getByLabel('Code', { exact: true }).textContent();
  expect(code).toMatch(/^\S+$/);
  await page
    .getByRole('timer')
    .getByText(/^Valid for \d+:\d\d$/)
    .waitFor(visible);
  const link = page.getByRole('link', { name: 'Open the login page' });
  expect(await link.getAttribute('href')).toContain(code);
  expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  // Another window displays a login that runs when it is opened.
  await other.page.reload();
  await other.page
    .getByLabel('Code', { exact: true })
    .getByText(code ?? '')
    .waitFor(visible);

  grant.confirm();
  for (const each of [page, other.page]) {
    await each.getByText('Logged in', { exact: true }).waitFor(visible);
    await each.getByText('25 % used').waitFor(visible);
    await each.getByText(/^resets in 1 h 5\d min$/).waitFor(visible);
    expect(await each.getByRole('meter', { name: '5 hours' }).getAttribute('value')).toBe('25');
    await each.locator('mark', { hasText: '<U+202E>' }).waitFor(visible);
    await each.getByText('Pro', { exact: true }).waitFor(visible);
  }
  managed.answers['/usages'] = { status: 503, body: { error: { message: 'Closed for today' } } };
  await page.getByRole('button', { name: 'Read the usage again' }).click();
  await page.getByRole('alert').getByText('Closed for today').waitFor(visible);
  managed.answers['/usages'] = { body: { usages: {}, extraUsage: null } };
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('The account has no limits.').waitFor(visible);

  // A stored login is accepted without a code.
  await page.getByRole('button', { name: 'Log in again' }).click();
  await page.getByRole('form', { name: 'Log in' }).locator('button[type="submit"]').click();
  await page.getByRole('form', { name: 'Log in' }).waitFor(hidden);
  expect(cloud.requestsOf('/api/oauth/device_authorization')).toHaveLength(1);

  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('group', { name: 'Log out' }).getByRole('button', { name: 'Log out' }).click();
  for (const each of [page, other.page]) await each.getByText('Not logged in').waitFor(visible);
  expect([...errors, ...other.errors]).toEqual([]);
});

it('displays how a login has ended, and starts another one', async () => {
  const { grant, window } = await open();
  const { page, errors } = await window();
  await show(page);
  const logIn = page.getByRole('button', { name: 'Log in' });
  grant.answerCode({ status: 503, body: { error: 'unavailable', error_description: 'Closed for today' } });
  await logIn.click();
  await page.getByRole('alert').getByText('Closed for today').waitFor(visible);

  await logIn.click();
  await page.getByLabel('Code', { exact: true }).waitFor(visible);
  expect(await page.getByRole('alert').count()).toBe(0);
  grant.answerPoll(oauthError('access_denied', 'Not you'));
  await page.getByText(/Not you/).waitFor(visible);
  await page.getByLabel('Code', { exact: true }).waitFor(hidden);

  await logIn.click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('The login was cancelled.').waitFor(visible);
  await logIn.waitFor(visible);
  expect(errors).toEqual([]);
});

it('generates a title after the first turn and on a click, each where the user has allowed it', async () => {
  const model = await startModelServer();
  onTestFinished(() => model.close());
  const { grant, managed, cloud, home, server, window } = await open(stringify(model.providerConfig()));
  const { page, errors } = await window(1200);
  await show(page);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByLabel('Code', { exact: true }).waitFor(visible);
  grant.confirm();
  await page.getByText('Logged in', { exact: true }).waitFor(visible);
  const [allowed, automatic] = [
    page.getByRole('switch', { name: 'Allow generating titles' }),
    page.getByRole('switch', { name: 'Generate a title after the first turn' }),
  ];
  expect(await automatic.isDisabled()).toBe(true);

  const { data } = await server.api('POST', '/sessions', { metadata: { cwd: home.home } });
  const id = (data as { id: string }).id;
  await page.goto(`${server.url}/#/s/${id}`);
  await page.getByRole('button', { name: 'Session menu' }).waitFor(visible);
  expect(await page.getByRole('button', { name: 'Generate title' }).count()).toBe(0);
  await page.goto(`${server.url}/#/account`);
  await allowed.click();
  await eventually(async () => expect(await automatic.isEnabled()).toBe(true));
  await automatic.click();
  await eventually(async () => {
    const text = await home.text();
    expect(text).toContain('[experimental]');
    expect(text.match(/auto_session_title = true/g)).toHaveLength(2);
  });

  await page.goto(`${server.url}/#/s/${id}`);
  managed.answers['/tools'] = { body: { title: 'Greetings' } };
  model.enqueue({ text: 'Hello.' });
  await page.getByRole('textbox').last().fill('Say hello');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Greetings' }).waitFor(visible);
  expect(cloud.requestsOf('/managed/v1/tools')).toHaveLength(1);

  model.enqueue({ text: 'Again.' });
  await page.getByRole('textbox').last().fill('And again');
  await page.keyboard.press('Enter');
  await page.getByText('Again.', { exact: true }).waitFor(visible);
  managed.answers['/tools'] = { body: { title: 'Two greetings' } };
  await page.getByRole('button', { name: 'Generate title' }).click();
  await page.getByRole('heading', { name: 'Two greetings' }).waitFor(visible);
  expect(cloud.requestsOf('/managed/v1/tools')).toHaveLength(2);
  managed.answers['/tools'] = { status: 500 };
  await page.getByRole('button', { name: 'Generate title' }).click();
  await page.getByRole('button', { name: 'Generating …' }).waitFor(hidden);
  await page.getByRole('alert').waitFor(visible);
  expect(errors).toEqual([]);
});
