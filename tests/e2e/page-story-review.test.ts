/** The review of changes: with comments, and from the load of the page on with the keyboard only. Build the page first. */
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { DESKTOP, expectAccessible } from '#support/accessibility.ts';
import { usePage } from '#support/browser.ts';
import { useBuiltServer } from '#support/built-server.ts';
import { hidden, locatorsOf, visible, type PageLocators } from '#support/page-locators.ts';

const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.org', ...args], { cwd });

const built = useBuiltServer(async ({ project }) => {
  await writeFile(join(project, 'a.txt'), 'one\nthe second line\nthree\n');
  git(project, 'add', '.');
  git(project, 'commit', '-q', '-m', 'first');
});
let page: Page;
let on: PageLocators;

usePage(
  () => built.server,
  (opened) => {
    ({ page } = opened);
    on = locatorsOf(page);
  },
  { viewport: DESKTOP },
);

const file = (path: string) => page.getByRole('list', { name: 'Changed files' }).getByRole('button', { name: path });
const lines = (path: string) => page.getByRole('listbox', { name: `Changed lines of ${path}` });

/** The model changes a file and creates another one; the last call waits for an approval. */
function enqueueChanges() {
  const { model } = built.base;
  model.enqueue({ calls: [{ name: 'Read', args: { path: 'a.txt' } }] });
  model.enqueue({
    calls: [
      { name: 'Edit', args: { path: 'a.txt', old_string: 'the second line', new_string: 'the second long line' } },
      { name: 'Write', args: { path: 'new.txt', content: 'fresh\nlines\n' } },
    ],
  });
  model.enqueue({ calls: [{ name: 'Bash', args: { command: 'touch checked && true' } }] });
  model.enqueue({ text: 'Changed and checked.' });
}

/** The body of the model's next request after `act`, as text. */
async function requestAfter(act: () => Promise<void>): Promise<string> {
  const before = built.base.model.requests.length;
  built.base.model.enqueue({ text: 'Understood.' });
  await act();
  return JSON.stringify((await built.base.model.waitForRequest(before + 1)).body);
}

it('reviews the changes of a session and sends the comments as one prompt', async () => {
  const session = await built.newSession();
  await page.goto(`${built.server.url}/#/s/${session}`);
  await on.prompt().waitFor(visible);
  enqueueChanges();
  await on.prompt().fill('Change it');
  await on.prompt().press('Enter');
  await on.approve().click();
  await page.getByText('Changed and checked.').waitFor(visible);

  await on.button('Review').click();
  await page.getByRole('tab', { name: 'Work tree' }).click();
  for (const [path, text, comment] of [
    ['a.txt', 'added: the second long line', 'Why longer?'],
    ['new.txt', 'added: lines', 'Say more.'],
  ] as const) {
    await file(path).click();
    await lines(path).getByRole('option', { name: text }).click();
    await on.button('Comment').click();
    await page.getByRole('textbox', { name: /^Comment on/ }).fill(comment);
    await on.button('Add').click();
    await page.getByRole('checkbox', { name: `Viewed: ${path}` }).check();
  }
  await page.getByText(/^2 of \d viewed$/).waitFor(visible);
  await expectAccessible(page);
  const sent = await requestAfter(() => page.getByRole('button', { name: 'Send 2 comments' }).click());
  expect(sent).toContain('Why longer?');
  expect(sent).toContain('Say more.');
  expect(sent).toContain('new.txt:2');
  await page.getByText('Understood.').waitFor(visible);
});

it('leads from the load of the page to a reviewed change with the keyboard only', async () => {
  const { keyboard } = page;
  const isFocused = (element: Locator) => element.evaluate((node) => node.matches(':focus'));
  /** Presses a key until the element has the focus. */
  async function reach(element: Locator, key = 'Tab', most = 16) {
    await element.waitFor(visible);
    for (let count = 0; !(await isFocused(element)); count += 1) {
      if (count === most) throw new Error(`not reached with ${most} × ${key}: ${String(element)}`);
      await keyboard.press(key);
    }
  }

  await page.getByRole('heading', { name: 'Service Code' }).waitFor(visible);
  await keyboard.press('Alt+n');
  await on.isFocused(page.getByLabel('Folder'));
  await keyboard.type(built.base.project);
  await keyboard.press('Enter');
  await on.isFocused(on.prompt());
  enqueueChanges();
  await keyboard.type('Change it');
  await keyboard.press('Enter');
  await expect.poll(() => on.approve().isEnabled()).toBe(true);
  await keyboard.press('Alt+y');
  await page.getByText('Changed and checked.').waitFor(visible);

  await keyboard.press('Control+Shift+D');
  await file('a.txt').waitFor(visible);
  await keyboard.press('F6');
  await reach(file('a.txt'));
  await keyboard.press('Enter');
  await reach(page.getByRole('checkbox', { name: 'Viewed: a.txt' }));
  await keyboard.press('Space');
  await page.getByText('1 of 2 viewed').waitFor(visible);
  await reach(lines('a.txt'));
  await keyboard.press('n');
  await keyboard.press('c');
  await page.getByRole('textbox', { name: /^Comment on a.txt/ }).waitFor(visible);
  await keyboard.type('Fine.');
  await keyboard.press('Control+Enter');
  await reach(page.getByRole('button', { name: 'Send 1 comment' }));
  expect(await requestAfter(() => keyboard.press('Enter'))).toContain('Fine.');
  await page.getByText('Understood.').waitFor(visible);
  // Escape leads from the panel back to the prompt box.
  await keyboard.press('Escape');
  await page.getByRole('complementary', { name: 'Review' }).waitFor(hidden);
  await on.isFocused(on.prompt());
});
