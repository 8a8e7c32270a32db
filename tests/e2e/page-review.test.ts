/** The panel Review: edits of calls, the work tree, comments as one prompt. Build the page first. */
import { execFileSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { axeFindings } from '#support/accessibility.ts';
import { launchBrowser, openPage, type OpenedPage } from '#support/browser.ts';
import { until } from '#support/patience.ts';
import { startWorld, type World } from '#support/world.ts';

/** Lines of the long file. */
const LINES = 20_000;
/** Changes of the file with many of them. */
const CHANGES = 100;

let world: World;
let browser: Browser;
let opened: OpenedPage;
let page: Page;
let session: string;

/** A file with a line at each place of a change, and other lines between. */
const manyLines = (lineOf: (at: number) => string) =>
  Array.from(
    { length: CHANGES },
    (_, at) => `${Array.from({ length: 19 }, (_, line) => `${at} ${line}\n`).join('')}${lineOf(at)}\n`,
  ).join('');

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.org', ...args], { cwd: world.project });

beforeAll(async () => {
  [world, browser] = await Promise.all([
    startWorld({ webDirectory: resolve(import.meta.dirname, '../../web/dist') }),
    launchBrowser(),
  ]);
  await writeFile(join(world.project, 'a.txt'), 'one\nthe second line\nthree\n');
  await writeFile(
    join(world.project, 'many.txt'),
    manyLines(() => 'same'),
  );
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  await writeFile(join(world.project, 'long.txt'), Array.from({ length: LINES }, (_, at) => `line ${at}\n`).join(''));
});
afterAll(async () => {
  await browser.close();
  await world.close();
});

beforeEach(async () => {
  ({ id: session } = await world.session({
    metadata: { cwd: world.project },
    agent_config: { permission_mode: 'yolo' },
  }));
  world.model.enqueue({
    calls: [
      { name: 'Read', args: { path: 'a.txt' } },
      { name: 'Write', args: { path: 'new.txt', content: 'fresh\nlines\n' } },
    ],
  });
  world.model.enqueue({
    calls: [
      { name: 'Edit', args: { path: 'a.txt', old_string: 'the second line', new_string: 'the second long line' } },
    ],
  });
  world.model.enqueue({ text: 'Changed.' });
  await world.prompt(session, 'Change it');
  opened = await openPage(browser, world.server);
  ({ page } = opened);
  await page.goto(`${world.server.url}/#/s/${session}`);
  await page.getByText('Changed.').first().waitFor();
  const review = page.getByRole('button', { name: 'Review', exact: true });
  if ((await review.getAttribute('aria-pressed')) !== 'true') await review.click();
  await file('new.txt').waitFor();
});
afterEach(async () => {
  await page.close();
  // The next turn writes it again, and files that exist must be read first.
  await rm(join(world.project, 'new.txt'));
  git('checkout', '-q', '--', '.');
  expect(opened.errors).toEqual([]);
});

const file = (path: string) => page.getByRole('list', { name: 'Changed files' }).getByRole('button', { name: path });
const lines = (path: string) => page.getByRole('listbox', { name: `Changed lines of ${path}` });
const line = (path: string, text: string) => lines(path).getByRole('option', { name: text });
const open = (source: string) => page.getByRole('tab', { name: source, exact: true }).click();

it('displays the edits of the calls, in one column and in two', async () => {
  await line('new.txt', 'added: fresh').waitFor();
  await file('a.txt').click();
  await line('a.txt', 'removed: the second line').waitFor();
  const words = await lines('a.txt').locator('mark.word').allInnerTexts();
  expect(words.map((word) => word.trim())).toEqual(['long']);
  await page.getByRole('button', { name: 'Side by side' }).click();
  await line('a.txt', 'removed: the second line added: the second long line').waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole('button', { name: 'Side by side' }).click();
  await page.getByRole('checkbox', { name: 'Viewed: a.txt' }).check();
  await page.getByText('1 of 2 viewed').waitFor();
});

it('collects comments on lines of the work tree and sends them as one prompt, with the keyboard alone', async () => {
  await open('Work tree');
  await file('a.txt').click();
  await line('a.txt', 'added: the second long line').waitFor();
  await lines('a.txt').focus();
  await page.keyboard.press('n');
  await page.keyboard.press('Shift+ArrowDown');
  await page.keyboard.press('c');
  await page.getByRole('textbox', { name: 'Comment on a.txt:2' }).waitFor();
  await page.keyboard.type('Why longer?');
  await page.keyboard.press('Control+Enter');
  await file('new.txt').click();
  await lines('new.txt').focus();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await page.getByRole('textbox', { name: 'Comment on new.txt:2' }).waitFor();
  await page.keyboard.type('Say more.');
  await page.keyboard.press('Control+Enter');
  expect(await axeFindings(page)).toEqual([]);

  world.model.enqueue({ text: 'Understood.' });
  const before = world.model.requests.length;
  await page.getByRole('button', { name: 'Send 2 comments' }).click();
  const request = await world.model.waitForRequest(before + 1);
  const sent = JSON.stringify(request.body);
  expect(sent).toContain(
    JSON.stringify('a.txt:2\n```diff\n-the second line\n+the second long line\n```\nWhy longer?').slice(1, -1),
  );
  expect(sent).toContain(JSON.stringify('new.txt:2\n```diff\n+lines\n```\nSay more.').slice(1, -1));
  await page.getByRole('region', { name: 'Comments' }).waitFor({ state: 'hidden' });
  await until(() => lines('new.txt').evaluate((element) => element.matches(':focus')), 'the focus');
});

it('draws the first lines of a long difference without the rest, and moves to its last line', async () => {
  await open('Work tree');
  await file('long.txt').click();
  await line('long.txt', 'added: line 0').waitFor();
  expect(await lines('long.txt').getByRole('option').count()).toBeLessThan(200);
  await lines('long.txt').focus();
  await page.keyboard.press('End');
  await until(
    () =>
      lines('long.txt')
        .getByText(`line ${LINES - 1}`, { exact: true })
        .isVisible(),
    'the last line',
  );
});

it('displays no lines of the calls as the work tree, and offers to read a difference again that failed', async () => {
  await file('a.txt').click();
  const edited = line('a.txt', 'added: the second long line');
  await edited.waitFor();
  await open('Work tree');
  const whole = line('a.txt', '@@ -1,3 +1,3 @@');
  await file('a.txt').click();
  await whole.waitFor();
  await open('This turn');
  await edited.waitFor();
  await whole.waitFor({ state: 'hidden' });

  const held: Route[] = [];
  await page.route('**/fs:diff', (route) => void held.push(route));
  await open('Work tree');
  await page.getByText('Reading the difference…').waitFor();
  expect(await edited.count()).toBe(0);
  // The status that was read before is displayed until it is read again.
  await expect.poll(() => held.length).toBe(2);
  for (const route of held) await route.abort('connectionfailed');
  await page.getByRole('alert').waitFor();
  expect(await edited.count()).toBe(0);
  await page.unroute('**/fs:diff');
  await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click();
  await whole.waitFor();
  await page.getByRole('alert').waitFor({ state: 'hidden' });
});

it('offers to read a work tree again that failed', async () => {
  await page.route('**/fs:git_status', (route) => route.abort('connectionfailed'));
  await open('Work tree');
  const retry = page.getByRole('alert').getByRole('button', { name: 'Try again' });
  await retry.waitFor();
  await open('This turn');
  await retry.waitFor({ state: 'hidden' });
  await open('Work tree');
  await retry.waitFor();
  await page.unroute('**/fs:git_status');
  await retry.click();
  await file('a.txt').waitFor();
  await retry.waitFor({ state: 'hidden' });
});

it('moves through the changes of all files, in both directions', async () => {
  await writeFile(
    join(world.project, 'many.txt'),
    manyLines((at) => `change ${at}`),
  );
  const selected = page.getByRole('option', { selected: true });
  const isAt = (text: string) => expect.poll(() => selected.allInnerTexts()).toEqual([expect.stringContaining(text)]);
  const next = page.getByRole('button', { name: 'Next change' });
  const previous = page.getByRole('button', { name: 'Previous change' });

  await next.click();
  await isAt('fresh');
  await next.click();
  await isAt('Edit');
  await next.click();
  await isAt('the second line');
  await previous.click();
  await isAt('fresh');
  await previous.click();
  await isAt('fresh');

  // The files of the work tree: their lines are read when they are opened.
  await open('Work tree');
  await file('long.txt').click();
  await lines('long.txt').waitFor();
  await isAt('@@');
  await previous.click();
  await lines('many.txt').waitFor();
  await line('many.txt', `added: change ${CHANGES - 1}`).waitFor();
  await isAt(`${CHANGES * 20}`);
  await previous.click();
  await isAt(`${(CHANGES - 1) * 20}`);
  await file('a.txt').click();
  await isAt('@@');
  await file('many.txt').click();
  await isAt('@@');
});

it('drops the ticks of files that a later turn changed, even by as many lines; the others stay', async () => {
  const isViewed = (path: string, isTicked: boolean) =>
    expect.poll(() => page.getByRole('checkbox', { name: `Viewed: ${path}` }).isChecked()).toBe(isTicked);
  for (const path of ['a.txt', 'new.txt']) await page.getByRole('checkbox', { name: `Viewed: ${path}` }).check();
  await page.getByText('2 of 2 viewed').waitFor();
  await open('Work tree');
  // Both are ticked without having been displayed.
  await file('new.txt').click();
  await line('new.txt', 'added: fresh').waitFor();
  for (const path of ['a.txt', 'long.txt']) await page.getByRole('checkbox', { name: `Viewed: ${path}` }).check();
  await page.getByText('2 of 3 viewed').waitFor();

  const edit = { path: 'a.txt', old_string: 'the second long line', new_string: 'the second longer line' };
  world.model.enqueue({ calls: [{ name: 'Edit', args: edit }] });
  world.model.enqueue({ text: 'Changed it again.' });
  await world.prompt(session, 'Change it again');
  await page.getByText('Changed it again.').first().waitFor();
  await isViewed('a.txt', false);
  await isViewed('long.txt', true);
  await open('This turn');
  await line('a.txt', 'added: the second longer line').waitFor();
  await isViewed('a.txt', false);
  await page.getByRole('checkbox', { name: 'Viewed: a.txt' }).check();
  await open('Work tree');
  await isViewed('long.txt', true);
  await open('This turn');
  await isViewed('a.txt', true);

  // A command changes a file that is displayed.
  await open('Work tree');
  await file('a.txt').click();
  await line('a.txt', 'added: the second longer line').waitFor();
  await page.getByRole('checkbox', { name: 'Viewed: a.txt' }).check();
  await writeFile(join(world.project, 'a.txt'), 'one\nother\nthree\n');
  await page.getByRole('button', { name: 'Read again' }).click();
  await line('a.txt', 'added: other').waitFor();
  await isViewed('a.txt', false);
});

it('keeps unsent comments over a reload, and an unfinished one with its lines only', async () => {
  const comment = () => page.getByRole('textbox', { name: /^Comment on/ });
  const comments = page.getByRole('region', { name: 'Comments' });
  await line('new.txt', 'added: fresh').click();
  await page.keyboard.press('c');
  await comment().fill('Say more.');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await line('new.txt', 'added: lines').click();
  await page.keyboard.press('c');
  await comment().fill('Half');
  await page.keyboard.press('Escape');
  await comment().waitFor({ state: 'hidden' });
  await line('new.txt', 'added: fresh').click();
  await page.keyboard.press('c');
  expect(await comment().inputValue()).toBe('');
  await file('a.txt').click();
  await line('a.txt', 'added: the second long line').click();
  await page.keyboard.press('c');
  expect(await comment().inputValue()).toBe('');
  await page.getByRole('button', { name: 'Cancel' }).click();

  await page.reload();
  await comments.getByText('Say more.').waitFor();
  // Its lines may be gone, but it can be continued.
  await page.getByRole('button', { name: /^Continue the comment on new.txt/ }).click();
  expect(await comment().inputValue()).toBe('Half');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await file('new.txt').click();
  await line('new.txt', 'added: lines').click();
  await page.keyboard.press('c');
  await comment().waitFor();
  expect(await comment().inputValue()).toBe('Half');
  expect(await page.getByRole('button', { name: 'Send 1 comment' }).count()).toBe(1);
  await comment().fill('Half no more.');
  await page.keyboard.press('Control+Enter');

  world.model.enqueue({ text: 'Understood.' });
  const before = world.model.requests.length;
  await page.getByRole('button', { name: 'Send 2 comments' }).click();
  const sent = JSON.stringify((await world.model.waitForRequest(before + 1)).body);
  expect(sent).toContain('Say more.');
  expect(sent).toContain('Half no more.');
  await comments.waitFor({ state: 'hidden' });
  await page.reload();
  await page.getByText('No edits').waitFor();
  await comments.waitFor({ state: 'hidden' });
});
