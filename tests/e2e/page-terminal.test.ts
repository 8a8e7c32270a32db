/** The terminal of the page: the built page on the built server with the demo model, in a real browser. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import * as z from 'zod';
import { usePage } from '#support/browser.ts';
import { eventually, until } from '#support/patience.ts';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';
import { PLAIN_SHELL } from '#support/terminals.ts';

let server: SpawnedServer;
let home: string;
let page: Page;
let requests: string[];
let session: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'service-code-page-'));
  server = await spawnServer({ args: ['--demo'], home, env: { SHELL: PLAIN_SHELL, ENV: '' } });
});
afterEach(async () => {
  await server.close();
  await rm(home, { recursive: true, force: true });
});
usePage(
  () => server,
  (opened) => ({ page, requests } = opened),
);
beforeEach(async () => {
  const { data } = await server.api('POST', '/sessions', { metadata: { cwd: home } });
  session = z.object({ id: z.string() }).parse(data).id;
  await page.goto(`${server.url}/#/s/${session}`);
  await page.reload();
  await field().waitFor(visible);
});

const visible = { state: 'visible' } as const;
const hidden = { state: 'hidden' } as const;
const field = () => page.getByRole('textbox', { name: 'Prompt' });
const screen = () => page.getByRole('group', { name: /^Terminal in/ }).filter({ visible: true });
const panelButton = () => page.getByRole('button', { name: 'Terminal', exact: true });
const tabs = () => page.getByRole('tablist', { name: 'Terminals' }).getByRole('tab');
/** Lines of the screen, without empty ones. */
const lines = async () =>
  (await screen().locator('.xterm-rows > div').allInnerTexts())
    .map((line) => line.trim())
    .filter((line) => line !== '');

async function openPanel() {
  await panelButton().click();
  await screen().locator('.xterm-rows').waitFor(visible);
  await expect.poll(lines).not.toEqual([]);
}
async function type(text: string) {
  await page.keyboard.type(text);
  await page.keyboard.press('Enter');
}
const shows = (line: string) => expect.poll(lines).toContain(line);

it('loads when it is opened, runs the shell, and is restored after a reload and a broken connection', async () => {
  const chunks = () => requests.filter((request) => /TerminalPanel/.test(request));
  let cut = async () => {};
  await page.routeWebSocket(/\/api\/v1\/ws$/, (line) => {
    line.connectToServer();
    cut = () => line.close();
  });
  await page.reload();
  await field().waitFor(visible);
  expect(chunks()).toEqual([]);
  await openPanel();
  expect(chunks()).not.toEqual([]);
  await type('pwd; echo a$((6 * 7))b');
  await shows('a42b');
  await shows(home);

  await page.reload();
  await shows('a42b');
  await screen().click();
  await type('echo c$((6 * 8))d');
  await shows('c48d');
  expect(await tabs().count()).toBe(1);

  await type('sleep 2; echo e$((6 * 9))f');
  await cut();
  await shows('e54f');
  await type('echo g$((6 * 10))h');
  await shows('g60h');
  // No output is duplicated.
  expect((await lines()).filter((line) => line === 'c48d')).toHaveLength(1);
});

it('answers the terminal queries of a program a single time, and not when they are replayed', async () => {
  await openPanel();
  const answers = async () => (await lines()).filter((line) => line.includes('^[['));
  // A status, a cursor, two modes; the terminal echoes the input of `cat`.
  await type(`printf '\\033[c\\033[6n\\033[?25$p\\033P$qm\\033\\\\\\033]11;?\\007'; cat`);
  await expect.poll(answers).toHaveLength(1);
  const [answered] = await answers();
  expect(answered?.match(/\^\[/g)?.length).toBeGreaterThanOrEqual(5);
  await page.reload();
  await expect.poll(answers).toHaveLength(1);
  await screen().click();
  await type('');
  await type('end of all');
  await shows('end of all');
  expect(await answers()).toEqual([answered]);
});

it('has the size of its element, and follows it', async () => {
  await openPanel();
  const size = async () => {
    const { data } = await server.api('GET', `/sessions/${session}/terminals`);
    const [terminal] = z.object({ items: z.array(z.object({ cols: z.number(), rows: z.number() })) }).parse(data).items;
    return terminal ?? { cols: 0, rows: 0 };
  };
  await expect.poll(size).not.toEqual({ cols: 80, rows: 24 });
  const before = await size();
  await page.setViewportSize({ width: 1600, height: 800 });
  const height = page.getByRole('separator', { name: 'Height of the drawer' });
  for (let presses = 0; presses < 5; presses += 1) await height.press('ArrowDown');
  await expect.poll(async () => (await size()).cols).toBeGreaterThan(before.cols);
  await expect.poll(async () => (await size()).rows).toBeLessThan(before.rows);
  await page.locator('.xterm-helper-textarea').focus();
  // The size of the last key may not have arrived yet.
  await eventually(async () => {
    const { cols, rows } = await size();
    await type('stty size');
    await expect.poll(lines, { timeout: 2000 }).toContain(`${rows} ${cols}`);
  });
});

it('displays several, their exits, and closes them', async () => {
  await openPanel();
  await page.getByRole('button', { name: 'New terminal' }).click();
  await expect.poll(() => tabs().count()).toBe(2);
  await expect.poll(lines).not.toEqual([]);
  await type('exit 3');
  await page.getByText('It has exited with 3.').waitFor(visible);
  await tabs().first().click();
  await page.getByText('It has exited with 3.').waitFor(hidden);
  await page.getByRole('button', { name: 'Close terminal' }).click();
  await expect.poll(() => tabs().count()).toBe(1);
  await page.getByText('It has exited with 3.').waitFor(visible);
  const statuses = async () => {
    const { data } = await server.api('GET', `/sessions/${session}/terminals`);
    return z
      .object({ items: z.array(z.object({ status: z.string() })) })
      .parse(data)
      .items.map(({ status }) => status);
  };
  await expect.poll(statuses).toEqual(['exited', 'exited']);
});

it('adds terminals of other clients after a broken connection and when the panel is opened again', async () => {
  let cut = async () => {};
  await page.routeWebSocket(/\/api\/v1\/ws$/, (line) => {
    line.connectToServer();
    cut = () => line.close();
  });
  await page.reload();
  await openPanel();
  await expect.poll(() => tabs().count()).toBe(1);
  await server.api('POST', `/sessions/${session}/terminals`, {});
  await cut();
  await expect.poll(() => tabs().count()).toBe(2);

  await page.getByRole('button', { name: 'Close terminal' }).click();
  await expect.poll(() => tabs().count()).toBe(1);
  await panelButton().click();
  await server.api('POST', `/sessions/${session}/terminals`, {});
  await panelButton().click();
  await expect.poll(() => tabs().count()).toBe(2);
});

it('keeps its keys to itself: none answers an approval or stops a turn', async () => {
  await openPanel();
  await field().fill('write a.txt: needle');
  await page.keyboard.press('Enter');
  const approval = page.getByRole('group', { name: /^Approval:/ });
  await approval.waitFor(visible);
  await screen().click();
  for (const key of ['Alt+y', 'Alt+r', 'Escape', 'Alt+n']) await page.keyboard.press(key);
  await page.keyboard.press('Control+u');
  await type('echo a$((6 * 7))b');
  await expect.poll(async () => (await lines()).join('\n')).toMatch(/a42b/);
  expect(await approval.count()).toBe(1);
  expect(await page.getByRole('dialog').count()).toBe(0);
  // Shift+Escape leaves the terminal; after that the page handles the keys again.
  await page.keyboard.press('Shift+Escape');
  await expect.poll(() => approval.getByRole('button', { name: 'Approve', exact: true }).isEnabled()).toBe(true);
  await page.keyboard.press('Alt+y');
  await approval.waitFor(hidden);
});

it('accepts keys while it draws a large amount of output', async () => {
  await openPanel();
  // Only Ctrl+C ends the sleep. The browser's driver receives every frame, so the output is finite. One process group
  // creates the file and sleeps: between two groups, the signal would reach no process.
  await type(`yes | head -c 20000000; sh -c 'touch written; exec sleep 600'`);
  await until(() => existsSync(join(home, 'written')), 'the end of what is written');
  await page.keyboard.press('Control+c');
  await type('echo a$((6 * 7))b');
  await shows('a42b');
});
