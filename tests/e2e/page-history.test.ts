/** The conversation on the page: undo, fork, compaction, long conversations, several agents; with a scripted model. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from '@decimalturn/toml-patch';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import * as z from 'zod';
import { launchBrowser, openPage, type OpenedPage } from '#support/browser.ts';
import { startModelServer, type ModelServer, type Script } from '#support/model-server.ts';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';

let browser: Browser;
let model: ModelServer;
let server: SpawnedServer;
let root: string;
let opened: OpenedPage;
let page: Page;
let session: string;

beforeAll(async () => {
  browser = await launchBrowser();
  root = await mkdtemp(join(tmpdir(), 'service-code-page-'));
  model = await startModelServer();
  await writeFile(join(root, 'config.toml'), stringify(model.providerConfig()));
  await writeFile(join(root, 'notes.txt'), 'one\ntwo\n');
  server = await spawnServer({ home: root });
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
beforeEach(async () => {
  session = await newSession();
  await show(session);
});

const visible = { state: 'visible' } as const;
const hidden = { state: 'hidden' } as const;
const field = () => page.getByRole('textbox', { name: 'Prompt' });
const log = () => page.getByRole('log', { name: 'Conversation', exact: true });
const you = () => log().getByRole('article', { name: 'You' });
const idSchema = z.object({ id: z.string() });
const selected = () => /#\/s\/(.+)$/.exec(page.url())?.[1] ?? '';

async function newSession(): Promise<string> {
  const { data } = await server.api('POST', '/sessions', { metadata: { cwd: root } });
  return idSchema.parse(data).id;
}

async function show(id: string) {
  await page.goto(`${server.url}/#/s/${id}`);
  await expect.poll(selected).toBe(id);
  await field().waitFor(visible);
}

const idle = (id = session) =>
  expect
    .poll(async () => (await server.api('GET', `/sessions/${id}`)).data, { interval: 20 })
    .toMatchObject({ busy: false, main_turn_active: false });

/** A turn that another client started. */
async function turn(text: string, ...scripts: Script[]) {
  for (const script of scripts.length ? scripts : [{ text: `Answer to ${text}` }]) model.enqueue(script);
  await server.api('POST', `/sessions/${session}/prompts`, { content: [{ type: 'text', text }] });
  await idle();
}

async function send(text: string) {
  await field().fill(text);
  await field().press('Enter');
  await expect.poll(() => field().inputValue()).toBe('');
}

it('undoes a prompt and everything after it, and returns its text to the composer', async () => {
  for (const text of ['one', 'two', 'three']) await turn(text);
  await log().getByText('Answer to three').waitFor(visible);
  await field().fill('after all');
  await you().filter({ hasText: 'two' }).getByRole('button', { name: 'Actions for this prompt' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Edit and resend' }).press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Edit and resend' }).click();
  await log().getByText('Answer to two').waitFor(hidden);
  await log().getByText('Prompts were taken back.').waitFor(visible);
  await expect.poll(() => field().inputValue()).toBe('two\n\nafter all');
  await page.reload();
  await log().getByText('Prompts were taken back.').waitFor(visible);
  expect(await you().allTextContents()).toHaveLength(1);
  await turn('four');
  await log().getByText('Answer to four').waitFor(visible);
  expect(JSON.stringify(model.requests.at(-1)?.body['messages'])).not.toContain('Answer to two');
});

it('continues in a fork, and lists children below their parent', async () => {
  await turn('one');
  await log().getByText('Answer to one').waitFor(visible);
  await page.getByRole('button', { name: 'Session menu' }).click();
  await page.getByRole('menuitem', { name: 'Continue in a copy' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Open the copy' }).click();
  await expect.poll(selected).not.toBe(session);
  const [source, copy] = [session, selected()];
  await log().getByText('Answer to one').waitFor(visible);
  session = copy;
  await turn('two');
  await log().getByText('Answer to two').waitFor(visible);
  await show(source);
  await log().getByText('Answer to one').waitFor(visible);
  expect(await log().getByText('Answer to two').count()).toBe(0);

  const { data } = await server.api('POST', `/sessions/${source}/children`, { title: 'A side way' });
  const rows = page.getByRole('navigation', { name: 'Sessions' }).getByRole('listitem');
  const at = async (id: string) =>
    rows.evaluateAll((all, href) => all.findIndex((row) => row.querySelector(`a[href="${href}"]`)), `#/s/${id}`);
  await page.getByRole('link', { name: /A side way/ }).waitFor(visible);
  expect(await at(idSchema.parse(data).id)).toBe((await at(source)) + 1);
});

it('compacts the conversation, displays that meanwhile, and displays the summary', async () => {
  await turn('one');
  await turn('two');
  const held = model.enqueue({ text: 'They said one and two.', hold: true });
  await page.getByRole('button', { name: /^Context:/ }).click();
  const panel = page.getByRole('form', { name: 'Context' });
  await panel.getByRole('textbox').fill('the numbers');
  await panel.getByRole('button', { name: 'Compact the conversation' }).click();
  await page.getByText('Compacting the conversation').waitFor(visible);
  expect(await panel.isVisible()).toBe(false);
  await held.sent;
  expect(JSON.stringify(model.requests.at(-1)?.body['messages'])).toContain('the numbers');
  held.release();
  const marker = log().getByText('The conversation above was compacted');
  await marker.waitFor(visible);
  await page.getByText('Compacting the conversation').waitFor(hidden);
  await log().getByText('Answer to two').waitFor(visible);
  // Compacted prompts cannot be undone.
  await you().filter({ hasText: 'two' }).getByRole('button', { name: 'Actions for this prompt' }).click();
  await page.getByRole('menuitem', { name: 'Take back', disabled: true }).waitFor(visible);
  await page.keyboard.press('Escape');
  await page.reload();
  await marker.click();
  await log().getByText('They said one and two.').waitFor(visible);
});

it('still displays after a reload why a turn failed', async () => {
  await turn('one', { status: 400, error: 'the key is no good' });
  for (let loads = 0; loads < 2; loads += 1) {
    await log().getByRole('alert').getByText('the key is no good').waitFor(visible);
    expect(await log().getByRole('alert').count()).toBe(1);
    await page.reload();
  }
});

it('displays the work of a subagent while it runs, and afterwards below its call', async () => {
  const call = {
    name: 'Agent',
    args: { description: 'count words', prompt: 'Count the words', subagent_type: 'coder' },
  };
  model.enqueue({ calls: [call] });
  const words = ['I count ', 'and find two words in all of the files that were named to me. '.repeat(5)];
  const held = model.enqueue({ text: words, hold: true });
  await send('go');
  const card = page.locator('[data-agent="agent-1"]');
  await card.getByText('coder: count words').waitFor(visible);
  await card.locator('button.head').click();
  await card.getByText('I count and find two words').waitFor(visible);
  model.enqueue({ text: 'There are two.' });
  held.release();
  await log().getByText('There are two.', { exact: true }).waitFor(visible);
  await card.waitFor(hidden);
  await log().locator('button[data-work][aria-expanded="false"]').click();
  await page.locator('[data-tool="Agent"] button.head').first().click();
  const inside = page.locator('[data-tool="Agent"]');
  await inside.getByText('Count the words', { exact: true }).waitFor(visible);
  await inside.getByText('I count and find two words').waitFor(visible);
});

it("unfolds the work and the thoughts of a subagent without those of the main agent's turn of the same number", async () => {
  const call = { name: 'Agent', args: { description: 'read it', prompt: 'Read it', subagent_type: 'coder' } };
  const report = `I have read it. ${'Every word of it was read, and none of them is missing here. '.repeat(5)}`;
  await turn(
    'go',
    { thinking: 'The main thought', calls: [call] },
    { thinking: 'The helping thought', calls: [{ name: 'Read', args: { path: 'notes.txt' } }] },
    { text: report },
    { text: 'Both are done.' },
  );
  const work = (within: Locator) => within.locator('button[data-work]');
  const group = (within: Locator) => within.locator('[data-group] button').first();
  const isOpen = (button: Locator) => expect.poll(() => button.getAttribute('aria-expanded'), { interval: 20 });
  await page.getByRole('button', { name: 'Agents', exact: true }).click();
  const agents = page.getByRole('tabpanel', { name: 'Agents' });
  await agents.getByRole('treeitem', { name: /agent-1/ }).click();
  const talk = agents.getByRole('log', { name: 'Conversation of agent-1' });
  await talk.getByText('I have read it.').waitFor(visible);
  await work(talk).click();
  await isOpen(work(talk)).toBe('true');
  await group(talk).getByText('Thought · Read').waitFor(visible);
  await isOpen(work(log())).toBe('false');

  await work(log()).click();
  await isOpen(work(log())).toBe('true');
  await group(log()).click();
  await log().getByText('The main thought').waitFor(visible);
  await isOpen(group(talk)).toBe('false');
  expect(await talk.getByText('The helping thought').count()).toBe(0);
  await group(talk).click();
  await talk.getByText('The helping thought').waitFor(visible);

  await work(log()).click();
  await isOpen(work(log())).toBe('false');
  await isOpen(work(talk)).toBe('true');
  await page.getByRole('button', { name: 'Agents', exact: true }).click();
});

it('displays the approval that a subagent requests', async () => {
  // Ids of calls are unique for each agent only.
  const id = 'call_of_both';
  const call = { id, name: 'Agent', args: { description: 'list', prompt: 'List', subagent_type: 'coder' } };
  for (const calls of [[call], [{ id, name: 'Bash', args: { command: 'touch made.txt' } }]]) model.enqueue({ calls });
  await send('go');
  const approval = page.getByRole('group', { name: /^Approval:/ });
  await approval.getByText('agent-1').waitFor(visible);
  await page.locator('[data-tool="Agent"]').waitFor(visible);
  model.enqueue({ text: 'It was not allowed, so that I leave the files as they are and report it. '.repeat(4) });
  model.enqueue({ text: 'All is said.' });
  await expect.poll(() => approval.getByRole('button', { name: 'Reject …' }).isEnabled()).toBe(true);
  await page.keyboard.press('Alt+r');
  await page.keyboard.press('Enter');
  await approval.waitFor(hidden);
  await log().getByText('All is said.').waitFor(visible);
});

it('lists background tasks and stops them, and moves foreground tasks to the background', async () => {
  await page.getByRole('button', { name: 'Permission mode: Ask first' }).click();
  await page.getByRole('menuitemradio', { name: 'Allow all' }).click();
  const strip = page.locator('details[aria-label="Tasks"]');
  const bash = (args: object) => [{ name: 'Bash', args: { description: 'Wait', ...args } }];
  model.enqueue({ calls: bash({ command: 'sleep 300', run_in_background: true }) });
  model.enqueue({ text: 'It runs.' });
  await send('behind');
  await log().getByText('It runs.').waitFor(visible);
  await strip.getByText('1 task runs').waitFor(visible);
  await strip.locator('summary').click();
  model.enqueue({ text: 'I see that it ended.' });
  await strip.getByRole('button', { name: 'Stop' }).click();
  await strip.getByText(/^stopped/).waitFor(visible);
  await log().getByText('I see that it ended.').waitFor(visible);
  await idle();

  model.enqueue({ calls: bash({ command: 'echo begun; sleep 301' }) });
  await send('wait for it');
  await page.locator('[data-tool="Bash"]').getByText('begun', { exact: true }).waitFor(visible);
  model.enqueue({ text: 'It goes on behind.' });
  await strip.getByRole('button', { name: 'To background' }).click();
  await log().getByText('It goes on behind.').waitFor(visible);
  await page.getByTitle('Stop (Esc)').waitFor(hidden);
  model.enqueue({ text: 'I see.' });
  await strip.getByRole('button', { name: 'Stop' }).click();
  await log().getByText('I see.', { exact: true }).waitFor(visible);
  await idle();
});

it('reads a long conversation page by page, draws the visible part, and keeps the scroll position', async () => {
  const TURNS = 70;
  for (let number = 1; number <= TURNS; number += 1) await turn(`Prompt ${number}.`);
  await page.reload();
  await log().getByText(`Answer to Prompt ${TURNS}.`).waitFor(visible);
  const drawn = log().locator('[data-index]');
  expect(await drawn.count()).toBeLessThan(40);

  // Older turns are inserted above the visible part, which does not move.
  let release = () => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/transcript?*before_turn=*', async (route) => {
    await gate;
    await route.continue();
  });
  const asks = page.waitForRequest(/before_turn=/);
  await log().evaluate((element) => (element.scrollTop = 200));
  await asks;
  const read = log().locator('[data-index]').nth(6);
  const text = (await read.textContent()) ?? '';
  const place = () => log().getByText(text.trim(), { exact: true }).first().boundingBox();
  const before = await place();
  const height = await log().evaluate((element) => element.scrollHeight);
  release();
  await expect.poll(() => log().evaluate((element) => element.scrollHeight)).toBeGreaterThan(height + 500);
  expect(Math.abs(((await place())?.y ?? 0) - (before?.y ?? 0))).toBeLessThan(3);
  await page.unroute('**/transcript?*before_turn=*');

  // Output that streams below does not move the scroll position.
  const stop = model.enqueue({ text: ['Streaming. ', 'More of it. '.repeat(50)], hold: true });
  const top = () => log().evaluate((element) => element.scrollTop);
  const seen = await top();
  await server.api('POST', `/sessions/${session}/prompts`, { content: [{ type: 'text', text: 'and now' }] });
  await stop.sent;
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor(visible);
  expect(await top()).toBe(seen);
  await page.getByRole('button', { name: /^\d+ new messages?$/ }).click();
  await log().getByText('More of it.').waitFor(visible);
  stop.release();
  await idle();

  // Scrolls up to the first turn.
  for (let wheels = 0; wheels < 200 && !(await log().getByText('Prompt 1.', { exact: true }).count()); wheels += 1) {
    await log().evaluate((element) => (element.scrollTop = 0));
    await page.waitForTimeout(20);
  }
  await log().getByText('Prompt 1.', { exact: true }).waitFor(visible);
  expect(await drawn.count()).toBeLessThan(40);
});

it('returns to a session with its unsent prompt and its scroll position', async () => {
  for (let number = 1; number <= 12; number += 1) await turn(`Prompt ${number}.`);
  await log().getByText('Answer to Prompt 12.').waitFor(visible);
  await log().evaluate((element) => (element.scrollTop = 300));
  await page.getByRole('button', { name: 'Go to the newest message' }).waitFor(visible);
  await field().fill('half a prom');
  const top = await log().evaluate((element) => element.scrollTop);
  const other = await newSession();
  await show(other);
  expect(await field().inputValue()).toBe('');
  const before = opened.requests.length;
  await page.goBack();
  await expect.poll(selected).toBe(session);
  await expect.poll(() => field().inputValue()).toBe('half a prom');
  await expect.poll(() => log().evaluate((element) => element.scrollTop)).toBe(top);
  expect(opened.requests.slice(before).filter((request) => request.includes('/transcript'))).toEqual([]);
});

it('stays at the end while an answer grows', async () => {
  const distance = () => log().evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);
  const lines = Array.from({ length: 60 }, (_, at) => `Line ${at} of it.\n\n`);
  model.enqueue({ text: lines, paceMs: 10 });
  await send('go');
  await log().getByText('Line 59 of it.').waitFor(visible);
  await expect.poll(distance).toBeLessThan(2);
});
