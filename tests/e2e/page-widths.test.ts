/** Controls of prompt box and header on narrow and wide screens: none covers another one or is cut off. */
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { usePage } from '#support/browser.ts';
import { useBuiltServer } from '#support/built-server.ts';
import { hidden, locatorsOf, visible } from '#support/page-locators.ts';

const built = useBuiltServer(undefined, { per: 'file' });
let page: Page;
usePage(
  () => built.server,
  (opened) => ({ page } = opened),
);

const TITLE = 'Rename the function of the store everywhere';

/** Pairs of controls of an element that cover each other, and controls that it cuts off. */
const conflicts = (container: Locator) =>
  container.evaluate((element) => {
    const { left, right } = element.getBoundingClientRect();
    const controls = [...element.querySelectorAll('button, textarea, [role="combobox"]')]
      .map((control) => ({
        name: control.getAttribute('aria-label') ?? control.textContent.trim(),
        box: control.getBoundingClientRect(),
      }))
      .filter(({ box }) => box.width > 0);
    const cut = controls.filter(({ box }) => box.left < left - 1 || box.right > right + 1).map(({ name }) => name);
    const covered = controls.flatMap(({ name, box }, at) =>
      controls
        .slice(at + 1)
        .filter(
          (other) =>
            Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left) > 1 &&
            Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top) > 1,
        )
        .map((other) => `${name} / ${other.name}`),
    );
    return [...cut, ...covered];
  });

async function openSession() {
  const id = await built.newSession();
  await built.ok('POST', `/sessions/${id}/profile`, { title: TITLE });
  await page.goto(`${built.server.url}/#/s/${id}`);
  await locatorsOf(page).prompt().waitFor(visible);
}

it.each([
  { width: 390, height: 844 },
  { width: 720, height: 800 },
  { width: 1024, height: 800 },
  { width: 1440, height: 900, panel: true },
  { width: 2560, height: 1300, panel: true },
])('draws no control over another one: $width px, panel open: $panel', async ({ panel = false, ...size }) => {
  await page.setViewportSize(size);
  await openSession();
  if (panel) {
    // The widest window displays it by default.
    if (size.width < 1800) await page.keyboard.press('Control+Shift+D');
    await page.getByRole('tab', { name: 'Work tree' }).waitFor(visible);
  }
  for (const text of ['', 'a prompt']) {
    await locatorsOf(page).prompt().fill(text);
    await expect.poll(() => conflicts(page.locator('form.composer'))).toEqual([]);
    await expect.poll(() => conflicts(page.locator('.pane-header').first())).toEqual([]);
  }
});

it('displays the panel next to the conversation from 1,800 px, until a person closes it', async () => {
  await page.setViewportSize({ width: 1799, height: 900 });
  await openSession();
  const panel = page.getByRole('tablist', { name: 'Panels' });
  expect(await panel.count()).toBe(0);
  await page.setViewportSize({ width: 1800, height: 900 });
  await panel.waitFor(visible);
  expect(await panel.getByRole('tab').allInnerTexts()).toEqual(['Review', 'Plan and tasks', 'Agents', 'Files', 'MCP']);
  await panel.getByRole('tab', { name: 'Review', selected: true }).waitFor(visible);
  await page.getByRole('button', { name: 'Close the panel' }).click();
  await panel.waitFor(hidden);
  await page.reload();
  await locatorsOf(page).prompt().waitFor(visible);
  expect(await panel.count()).toBe(0);
});

it('leaves the title of a session most of a phone’s header', async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  await openSession();
  const box = await page.getByRole('heading', { name: TITLE }).boundingBox();
  expect(box?.width).toBeGreaterThan(195);
});

it('says in an empty session what its permission mode does', async () => {
  await openSession();
  const about = (text: string) => page.locator('.empty').getByText(text);
  await about('Ask first').waitFor(visible);
  expect(await page.locator('.empty').innerText()).toMatch(/work tree/);
  await page.getByRole('button', { name: /^Permission mode/ }).click();
  await page.getByRole('menuitemradio', { name: /^Auto/ }).click();
  await about('Runs every call without asking').waitFor(visible);
  await about('Ask first').waitFor(hidden);
});
