/** A turn whose page is reloaded and whose server is killed at each of its stages. Build the page first. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import * as z from 'zod';
import { DESKTOP, expectAccessible } from '#support/accessibility.ts';
import { launchBrowser, openPage, type OpenedPage } from '#support/browser.ts';
import { makeBuiltHome, type BuiltHome } from '#support/built-home.ts';
import { hidden, locatorsOf, visible, type PageLocators } from '#support/page-locators.ts';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';

let browser: Browser;
let base: BuiltHome;
let server: SpawnedServer;
let opened: OpenedPage;
let page: Page;
let on: PageLocators;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

beforeEach(async () => {
  base = await makeBuiltHome();
  server = await spawnServer({ home: base.home });
  opened = await openPage(browser, server, { viewport: DESKTOP });
  ({ page } = opened);
  on = locatorsOf(page);
});
afterEach(async () => {
  await page.context().close();
  await server.close();
  await base.remove();
  expect(opened.errors).toEqual([]);
});

const away = () => page.getByText('The server does not answer.');

/** Kills the server, and starts another at its address after `whileAway`. */
async function restart(whileAway: () => Promise<void>) {
  const { port } = new URL(server.url);
  await server.stop('SIGKILL');
  await away().waitFor(visible);
  await whileAway();
  server = await spawnServer({ home: base.home, args: ['--port', port] });
  // The next automatic attempt may be half a minute away.
  await page.evaluate("window.dispatchEvent(new Event('online'))");
  await away().waitFor(hidden);
}

async function newSession(): Promise<string> {
  const { data } = await server.api('POST', '/sessions', { metadata: { cwd: base.project }, title: 'Interrupted' });
  return z.object({ id: z.string() }).parse(data).id;
}

it('shows the same after a reload and after a kill: unsent, streaming, waiting, asking, reviewed, done', async () => {
  const session = await newSession();
  await page.goto(`${server.url}/#/s/${session}`);
  const { model } = base;
  const interruptions = () => page.getByText('Interrupted: the server stopped during this turn.');
  const send = async (text: string) => {
    await on.prompt().fill(text);
    await on.prompt().press('Enter');
    await expect.poll(() => on.prompt().inputValue()).toBe('');
  };

  // An unsent prompt; what is sent while the server is away waits for it.
  await on.prompt().fill('Start here');
  await page.reload();
  await expect.poll(() => on.prompt().inputValue()).toBe('Start here');
  model.enqueue({ text: ['I begin. ', 'I continue.'], hold: true });
  await restart(async () => {
    expect(await on.prompt().inputValue()).toBe('Start here');
    await expectAccessible(page);
    await on.prompt().press('Enter');
    await page.getByText('The prompt is sent as soon as it does.', { exact: false }).waitFor(visible);
    // Its code is not loaded yet.
    await on.button('Agents').click();
  });

  // A streaming answer.
  await page.getByText('I begin. I continue.').waitFor(visible);
  expect(model.requests.length).toBe(1);
  await on.button('Reload').click();
  await page.getByText('No agents yet').waitFor(visible);
  await page.getByText('I begin. I continue.').waitFor(visible);
  await on.button('Stop').waitFor(visible);
  await restart(async () => {
    await page.getByText('I begin. I continue.').waitFor(visible);
  });
  await interruptions().waitFor(visible);
  await on.button('Stop').waitFor(hidden);

  // An approval.
  model.enqueue({ calls: [{ name: 'Bash', args: { command: 'touch a && true' } }] });
  await send('Run it');
  await on.card().waitFor(visible);
  await page.reload();
  await on.card().waitFor(visible);
  await restart(async () => {
    await page.getByText('Run it').first().waitFor(visible);
  });
  await expect.poll(() => interruptions().count()).toBe(2);
  await on.card().waitFor(hidden);

  // A question.
  model.enqueue({
    calls: [
      {
        name: 'AskUserQuestion',
        args: { questions: [{ question: 'Which one?', options: [{ label: 'This' }, { label: 'That' }] }] },
      },
    ],
  });
  await send('Ask me');
  await on.question().waitFor(visible);
  await page.reload();
  await on.question().waitFor(visible);
  await restart(async () => {
    await page.getByText('Ask me').first().waitFor(visible);
  });
  await expect.poll(() => interruptions().count()).toBe(3);
  await on.question().waitFor(hidden);

  // A comment of a review.
  model.enqueue({ calls: [{ name: 'Write', args: { path: 'new.txt', content: 'fresh\n' } }] });
  model.enqueue({ text: 'Written.' });
  await send('Write it');
  await page.getByText('Written.').waitFor(visible);
  await on.button('Review').click();
  await page.getByRole('option', { name: 'added: fresh' }).click();
  await on.button('Comment').click();
  await page.getByRole('textbox', { name: 'Comment on new.txt:1' }).fill('Fresher');
  await on.button('Add').click();
  const comment = page.getByRole('region', { name: 'Comments' }).getByText('Fresher');
  await page.reload();
  await comment.waitFor(visible);
  await restart(async () => {
    await comment.waitFor(visible);
  });
  await comment.waitFor(visible);
  await on.button('Review').click();
  await comment.waitFor(hidden);

  // The end of a turn.
  model.enqueue({ text: 'That is all.' });
  await send('Finish');
  await page.getByText('That is all.').waitFor(visible);
  await on.button('Stop').waitFor(hidden);
  const rows = () => page.getByRole('log').getByRole('article').allInnerTexts();
  const before = await rows();
  await page.reload();
  await page.getByText('That is all.').waitFor(visible);
  await expect.poll(rows).toEqual(before);
  await restart(async () => {
    expect(await rows()).toEqual(before);
  });
  await expect.poll(rows).toEqual(before);
  await expectAccessible(page);
});
