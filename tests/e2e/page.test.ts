/** The built page on the built server with the demo model, in a real browser. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { usePage } from '#support/browser.ts';
import { answer } from '#support/page-locators.ts';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';

let server: SpawnedServer;
let home: string;
let project: string;
let page: Page;
let errors: string[];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'service-code-home-'));
  project = await mkdtemp(join(tmpdir(), 'service-code-project-'));
  server = await spawnServer({ args: ['--demo'], home });
});
afterEach(async () => {
  await server.close();
  await rm(home, { recursive: true, force: true });
  await rm(project, { recursive: true, force: true });
});
usePage(
  () => server,
  (opened) => ({ page, errors } = opened),
);

declare const isAsset: (file: { name: string }) => boolean;

const field = () => page.getByRole('textbox', { name: 'Prompt' });
const log = () => page.getByRole('log');
const stopButton = () => page.getByRole('button', { name: 'Stop', exact: true });
const approval = () => page.getByRole('group', { name: /^Approval:/ });
const lastAnswer = () => log().getByRole('article', { name: 'Agent' }).last();
const visible = { state: 'visible' } as const;
const hidden = { state: 'hidden' } as const;

/** Id of the session that the page displays. */
const selected = () => /#\/s\/(.+)$/.exec(page.url())?.[1] ?? '';

async function newSession(): Promise<string> {
  const before = selected();
  await page.getByRole('button', { name: 'New session', exact: true }).first().click();
  await page.getByLabel('Folder').fill(project);
  await page.keyboard.press('Enter');
  await expect.poll(selected).not.toBe(before);
  await field().waitFor(visible);
  return selected();
}

/** Sends a prompt and waits until the server has accepted it. */
async function send(text: string) {
  await field().fill(text);
  await field().press('Enter');
  await expect.poll(() => field().inputValue()).toBe('');
}

/** Waits until the session is idle, on the server and on the page. */
async function finished(session: string) {
  await expect.poll(async () => (await server.api('GET', `/sessions/${session}`)).data).toMatchObject({ busy: false });
  await stopButton().waitFor(hidden);
}

/** The JSON-escaped text of the last answer, as stored by the server. */
async function savedAnswer(session: string): Promise<string> {
  const { data } = await server.api('GET', `/sessions/${session}/messages?role=assistant&page_size=1`);
  return /"text":"((?:[^"\\]|\\.)*)"/.exec(JSON.stringify(data))?.[1] ?? '';
}

it('loads few files, because a browser reads six at a time', async () => {
  const count = () => page.evaluate(() => performance.getEntriesByType('resource').filter(isAsset).length);
  await page.addInitScript('globalThis.isAsset = ({ name }) => name.includes("/assets/")');
  await page.reload();
  await page.getByRole('button', { name: 'New session', exact: true }).first().waitFor(visible);
  await expect.poll(count).toBeGreaterThan(1);
  expect(await count()).toBeLessThan(12);
  await newSession();
  expect(await count()).toBeLessThan(50);
});

it('displays the frame of the sidebar before its code is loaded', async () => {
  await page.route('**/assets/*.js', (route) => route.abort());
  await page.reload({ waitUntil: 'domcontentloaded' });
  await page.getByText('Service Code').waitFor(visible);
  errors.length = 0;
});

it('removes the token from the address and starts a session in a typed folder', async () => {
  await page.getByRole('button', { name: 'New session', exact: true }).first().waitFor(visible);
  expect(page.url()).not.toContain(server.token);
  await page.getByRole('button', { name: 'New session', exact: true }).first().click();
  await page.getByLabel('Folder').fill(join(project, 'missing'));
  await page.keyboard.press('Enter');
  await page.getByText(/does not exist/).waitFor(visible);
  await page.getByLabel('Folder').fill(project);
  await page.keyboard.press('Enter');
  await field().waitFor(visible);
  await page.getByRole('navigation', { name: 'Sessions' }).getByRole('link').waitFor(visible);
  const { data } = await server.api('GET', '/sessions');
  expect(data).toMatchObject({ items: [{ metadata: { cwd: project } }] });
});

it('prompts for the token when it has none', async () => {
  // The page stores its token again when it connects, before it lists the sessions.
  await server.api('POST', '/sessions', { metadata: { cwd: project } });
  await page.getByRole('navigation', { name: 'Sessions' }).getByRole('link').first().waitFor(visible);
  await page.evaluate('sessionStorage.clear()');
  await page.reload();
  await page.getByRole('textbox', { name: 'Token' }).fill('wrong');
  await page.keyboard.press('Enter');
  await page.getByText('The server refused this token.').waitFor(visible);
  await page.getByRole('textbox', { name: 'Token' }).fill(server.token);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'This server needs its token' }).waitFor(hidden);
  expect(await newSession()).toMatch(/^session_/);
  // The browser itself reports each refused request.
  errors.length = 0;
});

it('streams an answer with highlighted code', async () => {
  const session = await newSession();
  await send('what can you do?');
  await log().getByRole('article', { name: 'You' }).getByText('what can you do?').waitFor(visible);
  await finished(session);
  await lastAnswer().locator('.code pre code').waitFor(visible);
  expect(await lastAnswer().locator('strong').first().textContent()).toBe('demo model');
  expect(await page.getByRole('alert').count()).toBe(0);
});

it('displays text while it is written and stops at the second Escape in the prompt box', async () => {
  const session = await newSession();
  await send('count to 500');
  await expect.poll(() => lastAnswer().textContent()).toMatch(/\b5\b/);
  await stopButton().waitFor(visible);
  await page.keyboard.press('Escape');
  await page.getByText('Press Escape again to stop the turn').waitFor(visible);
  await page.keyboard.press('Escape');
  await log().getByText('Stopped.').waitFor(visible);
  await finished(session);
  expect(await lastAnswer().textContent()).not.toMatch(/\b500\b/);
  const { data } = await server.api('GET', `/sessions/${session}`);
  expect(data).toMatchObject({ busy: false, last_turn_reason: 'cancelled' });
});

it('does not stop the turn while Escape is held', async () => {
  const session = await newSession();
  await send('count to 100');
  await expect.poll(() => lastAnswer().textContent()).toMatch(/\b5\b/);
  // The second and third are repeats of the held key.
  for (let presses = 0; presses < 3; presses += 1) await page.keyboard.down('Escape');
  await page.keyboard.up('Escape');
  await page.getByText('Press Escape again to stop the turn').waitFor(visible);
  await expect.poll(() => lastAnswer().textContent()).toMatch(/\b100\b/);
  await finished(session);
  const { data } = await server.api('GET', `/sessions/${session}`);
  expect(data).toMatchObject({ last_turn_reason: 'completed' });
});

it('keeps the name of a tool on one line on a phone', async () => {
  await page.setViewportSize({ width: 390, height: 800 });
  const session = await newSession();
  await send(`write ${'folder/'.repeat(12)}notes.txt: hello`);
  await approval().waitFor(visible);
  await answer(approval());
  await finished(session);
  const name = page.locator('[data-tool="Write"] .name');
  const height = (await name.boundingBox())?.height ?? Infinity;
  expect(height).toBeLessThan(30);
});

it('requests an approval before a file is written, and writes it when approved', async () => {
  const session = await newSession();
  await send('write notes.txt: hello from the page');
  await approval().waitFor(visible);
  await page.getByRole('link', { name: /waits for approval/ }).waitFor(visible);
  await expect(readFile(join(project, 'notes.txt'))).rejects.toThrow('ENOENT');
  await answer(approval());
  await page.locator('[data-tool="Write"][data-state="done"]').waitFor(visible);
  await finished(session);
  expect(await readFile(join(project, 'notes.txt'), 'utf8')).toContain('hello from the page');
});

it('rejects with a reason, with the keyboard only', async () => {
  const session = await newSession();
  await send('run touch made.txt');
  await approval().waitFor(visible);
  await expect.poll(() => approval().getByRole('button', { name: 'Reject …' }).isEnabled()).toBe(true);
  await page.keyboard.press('Alt+r');
  await page.keyboard.type('not today');
  await page.keyboard.press('Enter');
  await page.locator('[data-tool="Bash"][data-state="rejected"]').waitFor(visible);
  await finished(session);
  await page.locator('[data-tool="Bash"] button.head').click();
  await page.locator('[data-tool="Bash"]').getByText('not today').waitFor(visible);
  await expect(readFile(join(project, 'made.txt'))).rejects.toThrow('ENOENT');
});

it('keeps a pending approval over a reload', async () => {
  const session = await newSession();
  await send('run echo reloaded');
  await approval().waitFor(visible);
  await page.reload();
  await approval().waitFor(visible);
  await answer(approval());
  await page.locator('[data-tool="Bash"][data-state="done"]').waitFor(visible);
  await finished(session);
  expect(await approval().count()).toBe(0);
});

it('continues after a reload in mid-turn, without losing or doubling a word', async () => {
  const session = await newSession();
  await send('count to 150');
  for (const mark of [10, 40, 80]) {
    await expect.poll(() => lastAnswer().textContent()).toMatch(new RegExp(`\\b${mark}\\b`));
    await page.reload();
  }
  await expect.poll(() => lastAnswer().textContent()).toMatch(/\b90\b/);
  await finished(session);
  const shown = (await lastAnswer().textContent()) ?? '';
  const words = (text: string) => text.match(/\d+/g);
  expect(words(shown)).toEqual(words(await savedAnswer(session)));
  expect(await log().getByRole('article', { name: 'You' }).count()).toBe(1);
});

it('queues a prompt while a turn runs, and runs it afterwards', async () => {
  const session = await newSession();
  await send('count to 60');
  await stopButton().waitFor(visible);
  await send('read missing.txt');
  await page.getByRole('region', { name: 'Queued prompts' }).getByText('read missing.txt').waitFor(visible);
  await page.locator('[data-tool="Read"]').waitFor({ state: 'visible' });
  await finished(session);
  expect(await page.getByRole('region', { name: 'Queued prompts' }).count()).toBe(0);
});

it('displays why a turn failed', async () => {
  const session = await newSession();
  await send('error');
  await finished(session);
  await page.getByRole('alert').waitFor(visible);
  expect(await page.getByRole('alert').textContent()).toContain('The demo model was asked to fail');
});

it('changes the permission mode, also for the next tool call', async () => {
  const session = await newSession();
  await page.getByRole('button', { name: 'Permission mode: Ask first' }).click();
  await page.getByRole('menuitemradio', { name: 'Allow all' }).click();
  await expect
    .poll(async () => (await server.api('GET', `/sessions/${session}/status`)).data)
    .toMatchObject({ permission: 'yolo' });
  await send('write free.txt: unasked');
  await page.locator('[data-tool="Write"][data-state="done"]').waitFor(visible);
  expect(await readFile(join(project, 'free.txt'), 'utf8')).toContain('unasked');
});

it('moves through the session list with the arrow keys', async () => {
  const first = await newSession();
  const second = await newSession();
  const rows = page.getByRole('navigation', { name: 'Sessions' }).getByRole('link');
  await expect.poll(() => rows.count()).toBe(2);
  await rows.first().focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect.poll(selected).toBe(first);
  expect(second).not.toBe(first);
});

it('becomes idle without a reload when the server is killed in mid-turn and starts again', async () => {
  const session = await newSession();
  await send('count to 2000');
  await expect.poll(() => lastAnswer().textContent()).toMatch(/\b10\b/);
  await page.evaluate('window.sameDocument = true');
  const { port } = new URL(server.url);
  await server.stop('SIGKILL');
  await page.getByText('The server does not answer.').waitFor(visible);

  server = await spawnServer({ args: ['--demo', '--port', port], home });
  expect(new URL(server.url).port).toBe(port);
  // The next automatic attempt may be half a minute away, if the server took its time.
  await page.evaluate("window.dispatchEvent(new Event('online'))");
  await page.getByText('The server does not answer.').waitFor(hidden);
  await stopButton().waitFor(hidden);
  await log().getByText('Interrupted: the server stopped during this turn.').waitFor(visible);
  expect(await page.evaluate('window.sameDocument')).toBe(true);

  await send('count to 3');
  await finished(session);
  await expect.poll(() => lastAnswer().textContent()).toMatch(/\b3\b/);
  expect((await server.api('GET', `/sessions/${session}`)).data).toMatchObject({ last_turn_reason: 'completed' });
});
