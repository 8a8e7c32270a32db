/** Pins, archived sessions and the selection of many: the built page on the built server. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import * as z from 'zod';
import { sessionBatchSchema } from '#schema/rest/session-batch.ts';
import { openPage, usePage } from '#support/browser.ts';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';

let server: SpawnedServer;
let root: string;
let page: Page;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'service-code-list-'));
  server = await spawnServer({ args: ['--demo'], home: root });
});
afterEach(async () => {
  await server.close();
  await rm(root, { recursive: true, force: true });
});
usePage(
  () => server,
  (opened) => ({ page } = opened),
);

const visible = { state: 'visible' } as const;
const hidden = { state: 'hidden' } as const;
const list = () => page.getByRole('navigation', { name: 'Sessions', exact: true });
const archive = () => page.getByRole('navigation', { name: 'Archived sessions' });
const link = (title: string) => list().getByRole('link', { name: title });
const box = (title: string) => list().getByRole('checkbox', { name: title });
const bar = () => page.getByRole('group', { name: 'Selection' });
const button = (name: string) => page.getByRole('button', { name, exact: true });
const idSchema = z.object({ id: z.string() });
const titles = () => list().locator('.title').allTextContents();

async function newSession(title: string): Promise<string> {
  const { data } = await server.api('POST', '/sessions', { metadata: { cwd: root }, title });
  return idSchema.parse(data).id;
}

/** Creates sessions, the last one being the newest. */
async function newSessions(...names: string[]): Promise<string[]> {
  const ids = [];
  for (const name of names) ids.push(await newSession(name));
  return ids;
}

/** Creates many sessions, eight at a time. */
async function manySessions(count: number): Promise<string[]> {
  const ids: string[] = [];
  let next = 0;
  const create = async () => {
    while (next < count) ids.push(await newSession(`Many ${(next += 1)}`));
  };
  await Promise.all(Array.from({ length: 8 }, create));
  return ids;
}

const isArchived = async (id: string) =>
  z.object({ archived: z.boolean() }).parse((await server.api('GET', `/sessions/${id}`)).data).archived;

/** Moves the focus to a row with the keyboard, from the button before the list. */
async function tabToList() {
  await button('Select').focus();
  for (let presses = 0; presses < 4; presses += 1) {
    await page.keyboard.press('Tab');
    if (await list().locator('.row:focus').count()) return;
  }
  throw new Error('Tab does not reach the list');
}

it('keeps pinned sessions first over a reload, also those that its first page lacks', async () => {
  const [old = ''] = await newSessions('The old one');
  await link('The old one').waitFor(visible);
  await link('The old one').hover();
  await button('Pin The old one').click();
  await list().getByRole('heading', { name: 'Pinned' }).waitFor(visible);
  await manySessions(60);
  await page.reload();
  await list().getByRole('heading', { name: 'Pinned' }).waitFor(visible);
  await expect.poll(async () => (await titles())[0]).toBe('The old one');
  await link('Many 60').waitFor(visible);

  await link('The old one').focus();
  await page.keyboard.press('ArrowRight');
  expect(await button('Pin The old one').getAttribute('aria-pressed')).toBe('true');
  await page.keyboard.press('Enter');
  await list().getByRole('heading', { name: 'Pinned' }).waitFor(hidden);
  await page.reload();
  await link('Many 60').waitFor(visible);
  expect(await list().getByRole('heading', { name: 'Pinned' }).count()).toBe(0);
  expect(await isArchived(old)).toBe(false);
});

it('draws the buttons of the row that has the focus or the pointer, and no others', async () => {
  await newSessions('Focused', 'Entered', 'Neither');
  await link('Neither').waitFor(visible);
  await link('Focused').focus();
  await link('Entered').hover();
  await button('Archive Entered').waitFor(visible);
  expect(await button('Archive Focused').count()).toBe(1);
  expect(await button('Archive Neither').count()).toBe(0);
});

it('draws the menus of all rows where the pointer is a finger', async () => {
  await newSessions('One', 'Two');
  const browser = page.context().browser();
  if (!browser) throw new Error('the page has no browser');
  const viewport = { width: 390, height: 800 };
  const { page: phone, errors } = await openPage(browser, server, { viewport, hasTouch: true, isMobile: true });
  await phone.getByRole('button', { name: 'Sessions', exact: true }).tap();
  for (const title of ['One', 'Two']) await phone.getByRole('button', { name: `Menu of ${title}` }).waitFor(visible);
  await phone.getByRole('button', { name: 'Menu of One' }).tap();
  await phone.getByRole('menuitem', { name: 'Archive' }).waitFor(visible);
  await phone.context().close();
  expect(errors).toEqual([]);
});

it('archives a session, and restores it in the view of archived ones, with the keyboard alone', async () => {
  const [first = ''] = await newSessions('First', 'Second', 'Third');
  await link('Third').waitFor(visible);
  await expect.poll(titles).toEqual(['Third', 'Second', 'First']);
  await tabToList();
  await page.keyboard.press('End');
  await expect.poll(() => link('First').evaluate((element) => element.matches(':focus'))).toBe(true);
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  expect(await button('Archive First').evaluate((element) => element.matches(':focus'))).toBe(true);
  await page.keyboard.press('Enter');
  await link('First').waitFor(hidden);
  expect(await isArchived(first)).toBe(true);
  // The focus stays in the list.
  await expect.poll(() => link('Second').evaluate((element) => element.matches(':focus'))).toBe(true);

  await button('Archived').focus();
  await page.keyboard.press('Enter');
  await archive().getByRole('link', { name: 'First' }).waitFor(visible);
  expect(await archive().getByRole('link').count()).toBe(1);
  await archive().getByRole('link').focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await page.getByText('No archived sessions.').waitFor(visible);
  expect(await isArchived(first)).toBe(false);
  await button('Open').focus();
  await page.keyboard.press('Enter');
  await link('First').waitFor(visible);
});

it('selects by click, by range and all, and archives the selection', async () => {
  const ids = await newSessions('One', 'Two', 'Three', 'Four', 'Five');
  await link('Five').waitFor(visible);
  await link('One').waitFor(visible);
  await button('Select').click();
  await box('Five').click();
  await box('Three').click({ modifiers: ['Shift'] });
  await bar().getByText('3 selected').waitFor(visible);
  await box('Four').click();
  await bar().getByText('2 selected').waitFor(visible);
  await bar().getByRole('button', { name: 'Archive' }).click();
  await bar().waitFor(hidden);
  await expect.poll(titles).toEqual(['Four', 'Two', 'One']);
  expect(await Promise.all(ids.map(isArchived))).toEqual([false, false, true, false, true]);

  await button('Select').click();
  await bar().getByRole('button', { name: 'All' }).click();
  await bar().getByText('3 selected').waitFor(visible);
  await bar().getByRole('button', { name: 'Archive' }).click();
  await page.getByText('No sessions yet.').waitFor(visible);
  await button('Archived').click();
  await expect.poll(() => archive().getByRole('link').count()).toBe(5);
  await button('Select').click();
  await bar().getByRole('button', { name: 'All' }).click();
  await bar().getByText('5 selected').waitFor(visible);
  await bar().getByRole('button', { name: 'Restore' }).click();
  await page.getByText('No archived sessions.').waitFor(visible);
  await button('Open').click();
  await expect.poll(titles).toEqual(['Five', 'Four', 'Three', 'Two', 'One']);
});

it('selects with the keyboard, and ends the selection at Escape', async () => {
  await newSessions('One', 'Two', 'Three');
  await link('Three').waitFor(visible);
  await link('One').waitFor(visible);
  await tabToList();
  await page.keyboard.press('Space');
  await bar().getByText('1 selected').waitFor(visible);
  await expect.poll(() => box('Three').evaluate((element) => element.matches(':focus'))).toBe(true);
  await page.keyboard.press('Shift+ArrowDown');
  await bar().getByText('2 selected').waitFor(visible);
  await expect.poll(() => box('Two').evaluate((element) => element.matches(':focus'))).toBe(true);
  expect(await box('Two').getAttribute('aria-checked')).toBe('true');
  await page.keyboard.press('Space');
  await bar().getByText('1 selected').waitFor(visible);
  await page.keyboard.press('Control+a');
  await bar().getByText('3 selected').waitFor(visible);
  await page.keyboard.press('Escape');
  await bar().waitFor(hidden);
  await expect.poll(() => link('Two').evaluate((element) => element.matches(':focus'))).toBe(true);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Two', exact: true }).waitFor(visible);
});

it('lists the sessions that a batch could not change, and keeps them selected', async () => {
  const [broken = '', whole = ''] = await newSessions('Broken', 'Whole');
  await link('Whole').waitFor(visible);
  await button('Select').click();
  await bar().getByRole('button', { name: 'All' }).click();
  await bar().getByText('2 selected').waitFor(visible);
  await removeFolder(broken);
  await bar().getByRole('button', { name: 'Archive' }).click();
  const failures = page.getByRole('alert', { name: 'Failures' });
  await failures.getByText('1 session was not changed').waitFor(visible);
  await failures.getByText('Broken', { exact: true }).waitFor(visible);
  await bar().getByText('1 selected').waitFor(visible);
  expect(await box('Broken').getAttribute('aria-checked')).toBe('true');
  expect(await isArchived(whole)).toBe(true);
  await failures.getByRole('button', { name: 'Dismiss the failures' }).click();
  await failures.waitFor(hidden);
});

it('displays a batch of 500 by another client, and draws only the visible rows', async () => {
  const ids = await manySessions(540);
  await page.reload();
  await link('Many 540').waitFor(visible);
  const rows = list().getByRole('listitem');
  const last = list().getByRole('link', { name: /^Many 1\b/ });
  await expect
    .poll(async () => {
      await list().evaluate((element) => (element.scrollTop = element.scrollHeight));
      return last.count();
    })
    .toBe(1);
  expect(await rows.count()).toBeLessThan(60);
  expect(await rows.last().getAttribute('aria-posinset')).toBe('541');

  const { data } = await server.api('POST', '/api/v2/sessions:archive', { ids: ids.slice(40) });
  expect(sessionBatchSchema.parse(data)).toMatchObject({ succeeded: 500, failed: 0 });
  await expect.poll(() => rows.count()).toBeLessThanOrEqual(41);
  const { data: left } = await server.api('GET', '/sessions?page_size=100');
  const expected = z.object({ items: z.array(z.object({ title: z.string() })) }).parse(left).items;
  expect(expected).toHaveLength(40);
  await list().evaluate((element) => (element.scrollTop = 0));
  await expect.poll(async () => (await titles())[0]).toBe(expected[0]?.title);
  await button('Archived').click();
  await archive().getByRole('link').first().waitFor(visible);
  expect(await archive().getByRole('listitem').count()).toBeLessThan(60);
});

/** Removes a session's folder from the home, as a person might. */
async function removeFolder(id: string) {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const folder = entries.find((entry) => entry.isDirectory() && entry.name === id);
  if (!folder) throw new Error(`no folder of ${id}`);
  await rm(join(folder.parentPath, folder.name), { recursive: true });
}
