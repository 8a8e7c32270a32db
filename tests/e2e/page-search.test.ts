/** The search palette, with the keyboard alone: the built page on the built server, with a scripted model. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from '@decimalturn/toml-patch';
import type { Locator, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import * as z from 'zod';
import { searchRequestSchema } from '#schema/rest/search.ts';
import { usePage } from '#support/browser.ts';
import { startModelServer, type ModelServer, type Script } from '#support/model-server.ts';
import { eventually } from '#support/patience.ts';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';

/** More than the turns of a page of a transcript. */
const TURNS = 40;

let model: ModelServer;
let server: SpawnedServer;
let root: string;
let page: Page;
/** A session that no server has loaded since the restart. */
let cold: string;

const visible = { state: 'visible' } as const;
const hidden = { state: 'hidden' } as const;
const palette = () => page.getByRole('dialog', { name: 'Search' });
const input = () => palette().getByRole('combobox', { name: 'Search sessions' });
const options = () => palette().getByRole('listbox', { name: 'Hits' }).getByRole('option');
const option = (text: string | RegExp) => options().filter({ hasText: text });
const log = () => page.getByRole('log', { name: 'Conversation', exact: true });
const found = () => page.locator('[data-found]');
const selected = () => /#\/s\/(.+)$/.exec(page.url())?.[1] ?? '';
const marked = (of: Locator) => of.locator('mark').allTextContents();
const idSchema = z.object({ id: z.string() });

async function newSession(title?: string): Promise<string> {
  const { data } = await server.api('POST', '/sessions', { metadata: { cwd: root }, ...(title && { title }) });
  return idSchema.parse(data).id;
}

async function turn(session: string, text: string, ...scripts: Script[]) {
  for (const script of scripts) model.enqueue(script);
  await server.api('POST', `/sessions/${session}/prompts`, { content: [{ type: 'text', text }] });
  await eventually(async () => {
    const { data } = await server.api('GET', `/sessions/${session}`);
    expect(data).toMatchObject({ busy: false, main_turn_active: false, last_turn_reason: 'completed' });
  });
}

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'service-code-search-'));
  model = await startModelServer();
  await writeFile(join(root, 'config.toml'), stringify(model.providerConfig()));
  await writeFile(join(root, 'notes.txt'), 'one\ntwo\n');
  server = await spawnServer({ home: root });
  cold = await newSession('Long ago');
  for (let number = 0; number < TURNS; number += 1) {
    const text = number === 2 ? 'There swims a narwhal, and 登录页面 is fixed.' : `Answer ${number}.`;
    await turn(cold, `Prompt ${number}.`, { text });
  }
  await turn(cold, 'Which function?', { text: 'Call `parseUserNameOf(input)` first.' });
  expect(await server.stop()).toBe(0);
  server = await spawnServer({ home: root });
});
afterAll(async () => {
  await server.close();
  await model.close();
  await rm(root, { recursive: true, force: true });
});
usePage(
  () => server,
  (opened) => ({ page } = opened),
);
beforeEach(() => page.getByRole('link', { name: /Long ago/ }).waitFor(visible));

/** A choice of the search with its value. */
const choice = (label: string, value: string) => palette().getByRole('button', { name: `${label}: ${value}` });

async function choose(label: string, value: string) {
  await palette()
    .getByRole('button', { name: new RegExp(`^${label}:`) })
    .click();
  await page.getByRole('menuitemradio', { name: value, exact: true }).click();
  await choice(label, value).waitFor(visible);
}

/** Opens the palette and types a query. */
async function search(text: string) {
  await page.keyboard.press('Control+k');
  await input().waitFor(visible);
  await expect.poll(() => input().evaluate((element) => element.matches(':focus'))).toBe(true);
  await page.keyboard.insertText(text);
}

/** Moves to an entry with the arrow keys and opens it. */
async function openEntry(entry: Locator) {
  await entry.first().waitFor(visible);
  for (let moves = 0; (await entry.first().getAttribute('aria-selected')) !== 'true'; moves += 1) {
    expect(moves).toBeLessThan(await options().count());
    const before = await input().getAttribute('aria-activedescendant');
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => input().getAttribute('aria-activedescendant')).not.toBe(before);
  }
  await page.keyboard.press('Enter');
  await palette().waitFor(hidden);
}

/** Waits until the found row is displayed and has the focus. */
async function landed(text: string) {
  await found().getByText(text).waitFor(visible);
  await expect.poll(() => found().evaluate((element) => element.matches(':focus'))).toBe(true);
  await expect
    .poll(() =>
      found().evaluate((element) => {
        const list = element.closest('[role="log"]')?.getBoundingClientRect();
        const row = element.getBoundingClientRect();
        return list !== undefined && row.top < list.bottom && row.bottom > list.top;
      }),
    )
    .toBe(true);
}

it('finds a word of a cold session and opens it at its turn, after loading older ones', async () => {
  await search('narwhal');
  const hit = option('narwhal');
  await hit.waitFor(visible);
  expect(await marked(hit)).toEqual(['narwhal']);
  await openEntry(hit);
  await expect.poll(selected).toBe(cold);
  await landed('There swims a narwhal');
  await log().getByText('Answer 3.', { exact: true }).waitFor(visible);
});

it('finds a Chinese word, and a piece of an identifier in quotes', async () => {
  await search('登录');
  const chinese = option('登录页面');
  await chinese.waitFor(visible);
  expect(await marked(chinese)).toEqual(['登录']);
  await input().fill('seUserName');
  await palette().getByRole('status').getByText('Nothing found.').waitFor(visible);
  await input().fill('"SEUSERNAME"');
  const identifier = option('parseUserNameOf');
  await identifier.waitFor(visible);
  expect(await marked(identifier)).toEqual(['seUserName']);
  await openEntry(identifier);
  await landed('parseUserNameOf');
});

it('finds a message that was sent a moment ago, and the open session at another turn', async () => {
  const session = await newSession();
  await page.goto(`${server.url}/#/s/${session}`);
  await page.getByRole('textbox', { name: 'Prompt' }).waitFor(visible);
  for (let number = 0; number < 20; number += 1) {
    await turn(session, `Early ${number}`, { text: 'A long answer.\n\n'.repeat(6) });
  }
  await turn(session, 'Where is the axolotl?', { text: 'In the lake.' });
  await log().getByText('In the lake.').waitFor(visible);
  await search('axolotl');
  await openEntry(option('You').filter({ hasText: 'axolotl' }));
  await landed('Where is the axolotl?');
  expect(selected()).toBe(session);
  // The title is the last prompt; the palette has it without a request.
  await search('"Early 3');
  await openEntry(option('You'));
  await landed('Early 3');
});

it("finds a word of a subagent's answer and displays its conversation there", async () => {
  const session = await newSession('With a helper');
  const call = { name: 'Agent', args: { description: 'look', prompt: 'Look for it', subagent_type: 'coder' } };
  const answer = `The helper saw a quokka. ${'It was sitting there for a long time. '.repeat(10)}`;
  const early = { text: 'The wombat comes first.', calls: [{ name: 'Read', args: { path: 'notes.txt' } }] };
  await turn(session, 'go', { calls: [call] }, early, { text: answer }, { text: 'Done.' });
  await search('quokka');
  await openEntry(option('agent-1').filter({ hasText: 'quokka' }));
  await expect.poll(selected).toBe(session);
  const dialog = page.getByRole('dialog', { name: 'Conversation of agent-1' });
  await dialog.waitFor(visible);
  await landed('The helper saw a quokka');
  await page.keyboard.press('Escape');
  await dialog.waitFor(hidden);
  // Its text before the last call is part of the folded work.
  await search('wombat');
  await openEntry(option('agent-1').filter({ hasText: 'wombat' }));
  await landed('The wombat comes first.');
  await page.keyboard.press('Escape');
  await dialog.waitFor(hidden);
  await log().getByText('Done.').waitFor(visible);
});

it('has titles immediately, and narrows by author, session and project', async () => {
  const session = await newSession('Whale watching');
  await turn(session, 'Is the pangolin a whale?', { text: 'A pangolin is no whale.' });
  await page.getByRole('link', { name: /Whale watching/ }).waitFor(visible);
  const released = await hold(() => true);
  await search('whale');
  // The server has not replied yet.
  await option('Whale watching').waitFor(visible);
  expect(await options().count()).toBe(1);
  await palette().getByRole('status').getByText('Searching').waitFor(visible);
  await released.release();
  await expect.poll(() => options().count()).toBe(3);
  await page.keyboard.press('Escape');

  await page.goto(`${server.url}/#/s/${session}`);
  const menu = page.getByRole('button', { name: 'Session menu' });
  await menu.press('Enter');
  await page.getByRole('menuitem', { name: 'Search in this session' }).press('Enter');
  await input().fill('pangolin');
  await expect.poll(() => options().count()).toBe(2);
  await choice('Where', 'This session').waitFor(visible);
  await choose('Written by', 'People');
  await expect.poll(() => options().allTextContents()).toEqual([expect.stringContaining('Is the pangolin')]);
  await choose('Written by', 'Agents');
  await expect.poll(() => options().allTextContents()).toEqual([expect.stringContaining('is no whale')]);
  await input().fill('narwhal');
  await palette().getByRole('status').getByText('Nothing found.').waitFor(visible);
  await choose('Where', 'This project');
  await option('narwhal').waitFor(visible);
  await page.keyboard.press('Escape');
  await palette().waitFor(hidden);
  // The focus returns to where it was.
  await expect.poll(() => menu.evaluate((element) => element.matches(':focus'))).toBe(true);
});

it('orders by time and reads more hits while the list is scrolled', async () => {
  const session = await newSession('Many');
  for (let number = 0; number < 30; number += 1) {
    await turn(session, `Gecko ${number}`, { text: `gecko answer ${number}` });
  }
  await search('gecko');
  await options().first().waitFor(visible);
  await choose('Order', 'Newest first');
  await expect.poll(() => options().first().textContent()).toContain('gecko answer 29');
  await palette().getByRole('status').getByText('20 or more hits').waitFor(visible);
  await input().focus();
  for (let moves = 0; moves < 59; moves += 1) {
    const before = await input().getAttribute('aria-activedescendant');
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => input().getAttribute('aria-activedescendant')).not.toBe(before);
  }
  await expect.poll(() => options().count()).toBe(60);
  expect(await options().last().textContent()).toContain('Gecko 0');
  await expect.poll(() => options().last().isVisible()).toBe(true);
  await page.keyboard.press('Escape');
});

it('never displays the reply to an older query', async () => {
  const held = await hold((query) => query === 'narwhal');
  await search('narwhal');
  await held.arrived;
  await input().fill('parseUserNameOf');
  await option('parseUserNameOf').waitFor(visible);
  await held.release();
  // A newer query has replied since: the older one would be displayed by now.
  await input().fill('登录');
  await option('登录').waitFor(visible);
  expect(await option(/^(?!.*登录).*narwhal/).count()).toBe(0);
  expect(await options().count()).toBe(1);
  await page.keyboard.press('Escape');
});

it('displays the progress of the index while it is being built, and then the hits', async () => {
  let isBuilding = true;
  await page.route('**/api/v1/search', async (route) => {
    const reply = await route.fetch();
    const body = z
      .object({ data: z.looseObject({ index_state: z.object({}) }) })
      .loose()
      .parse(await reply.json());
    const index_state = { state: 'building', indexed_sessions: 3, total_sessions: 8, documents: 5, stale: true };
    const data = { ...body.data, items: [], has_more: false, index_state };
    await route.fulfill({ response: reply, json: isBuilding ? { ...body, data } : body });
  });
  await search('narwhal');
  await palette().getByText('Indexing: 3 of 8 sessions').waitFor(visible);
  expect(
    await palette()
      .getByRole('progressbar')
      .evaluate((bar) => bar.getAttribute('max')),
  ).toBe('8');
  isBuilding = false;
  await option('narwhal').waitFor(visible);
  await palette().getByText('Indexing').waitFor(hidden);
  await page.unroute('**/api/v1/search');
  await page.keyboard.press('Escape');
});

it('displays why a query is refused, and text of a message never as markup', async () => {
  const session = await newSession('Markup');
  await turn(session, 'Show <img src=x onerror=alert(1)> & <b>capybara</b>', { text: 'Seen.' });
  await search(Array.from({ length: 40 }, (_, number) => `w${number}`).join(' '));
  await palette().getByRole('alert').getByText('too many terms').waitFor(visible);
  await input().fill('capybara');
  const hit = option('You');
  await hit.getByText('<img src=x onerror=alert(1)> & <b>').waitFor(visible);
  expect(await palette().locator('img, b').count()).toBe(0);
  await page.keyboard.press('Escape');
});

it('is a dialog with a combobox that names its active option', async () => {
  const button = page.getByRole('button', { name: /^Search or run/ });
  await button.focus();
  await page.keyboard.press('Enter');
  await input().waitFor(visible);
  await options().first().waitFor(visible);
  const active = async () => {
    const id = (await input().getAttribute('aria-activedescendant')) ?? '';
    return palette().locator(`[id="${id}"][role="option"][aria-selected="true"]`).count();
  };
  expect(await active()).toBe(1);
  expect(await input().getAttribute('aria-controls')).toBe(await palette().getByRole('listbox').getAttribute('id'));
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowDown');
  await expect.poll(active).toBe(1);
  expect(await palette().locator('[aria-selected="true"]').count()).toBe(1);
  await page.keyboard.press('Escape');
  await palette().waitFor(hidden);
  await expect.poll(() => button.evaluate((element) => element.matches(':focus'))).toBe(true);
});

/** Holds the requests of some queries until `release`. */
async function hold(isHeld: (query: string) => boolean) {
  let release = () => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  let arrive = () => {};
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const handler = async (route: Route) => {
    const { query } = searchRequestSchema.parse(route.request().postDataJSON());
    if (!isHeld(query)) return route.continue();
    arrive();
    const reply = await route.fetch();
    await gate;
    // The page may have aborted the request.
    await route.fulfill({ response: reply }).catch(() => undefined);
  };
  await page.route('**/api/v1/search', handler);
  return {
    arrived,
    async release() {
      release();
      await page.unroute('**/api/v1/search', handler);
    },
  };
}
