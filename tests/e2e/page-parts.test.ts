import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { axeFindings } from '#support/accessibility.ts';
import { launchBrowser } from '#support/browser.ts';
import { eventually, PATIENCE_MS } from '#support/patience.ts';
import { serveStories } from '#support/stories.ts';

/** The time to draw them, which is longer on a busy machine. */
const PICTURES_MS = 900_000;
/** Limit of a picture in the repository. */
const MOST_BYTES = 150_000;
const themes = ['light', 'dark', 'contrast'] as const;
type Theme = (typeof themes)[number];

/** Opens the floating parts, by the name of their button. */
const floating: Record<string, { selector: string; open: (page: Page) => Promise<void> }> = {
  Menu: { selector: '.ui-menu', open: (page) => button(page, 'Menu').click() },
  Select: { selector: '.ui-menu', open: (page) => page.getByRole('button', { name: /^Effort/ }).click() },
  Popover: { selector: '.ui-popover', open: (page) => button(page, 'Popover').click() },
  Tooltip: { selector: '.ui-tooltip', open: (page) => button(page, 'Tooltip').hover() },
  Dialog: { selector: '.ui-dialog', open: (page) => button(page, 'Dialog').click() },
  Sheet: { selector: '.ui-sheet', open: (page) => button(page, 'Sheet').click() },
  Toast: { selector: '.ui-toast', open: (page) => button(page, 'Toast').click() },
};

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const focusedName = (page: Page) =>
  page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent);

let stories: Awaited<ReturnType<typeof serveStories>>;
let browser: Browser;
let page: Page;
let errors: string[];

const window = { width: 1280, height: 900 };

async function open(theme: Theme, options: Parameters<Browser['newPage']>[0] = {}): Promise<Page> {
  const opened = await browser.newPage({ viewport: window, reducedMotion: 'reduce', ...options });
  opened.setDefaultTimeout(PATIENCE_MS);
  opened.on('pageerror', (error) => errors.push(error.message));
  opened.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  await opened.goto(stories.url);
  await opened.evaluate((name) => (document.documentElement.dataset['theme'] = name), theme);
  await opened.getByRole('heading', { name: 'Parts', exact: true }).waitFor();
  return opened;
}

beforeAll(async () => {
  [stories, browser] = await Promise.all([serveStories(), launchBrowser()]);
});
afterAll(() => Promise.all([browser.close(), stories.close()]));

beforeEach(() => {
  errors = [];
});
afterEach(async () => {
  await page.close();
  expect(errors).toEqual([]);
});

describe.each(themes)('theme %s', (theme) => {
  it('has no finding of axe, at rest and in any part that floats', async () => {
    page = await open(theme);
    expect(await axeFindings(page)).toEqual([]);
    for (const [name, { selector, open }] of Object.entries(floating)) {
      await open(page);
      await page.locator(selector).waitFor();
      expect({ name, findings: await axeFindings(page) }).toEqual({ name, findings: [] });
      // A toast has no Esc; it is the last part.
      await page.keyboard.press('Escape');
      if (name !== 'Toast') await page.locator(selector).waitFor({ state: 'detached' });
    }
  });
});

describe('keyboard', () => {
  beforeEach(async () => {
    page = await open('light');
  });

  it('draws a ring of 2 px, 2 px away from a focused control', async () => {
    await page.keyboard.press('Tab');
    const ring = await button(page, 'Plain').evaluate((element) => {
      const { outlineWidth, outlineOffset, outlineStyle } = getComputedStyle(element);
      return { outlineWidth, outlineOffset, outlineStyle };
    });
    expect(ring).toEqual({ outlineWidth: '2px', outlineOffset: '2px', outlineStyle: 'solid' });
  });

  it('runs no click of a busy button, which keeps the focus', async () => {
    await button(page, 'Plain').click();
    await button(page, 'Busy').focus();
    await page.keyboard.press('Enter');
    expect(await focusedName(page)).toContain('Busy');
    expect(await page.locator('output').textContent()).toBe('plain');
  });

  it('opens a menu inside a dialog; Esc closes the innermost part, and the focus returns', async () => {
    await button(page, 'Dialog').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Rename the session' }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe(
      await page.getByLabel('New name').getAttribute('id'),
    );
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Rename' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });
    expect(await page.getByRole('dialog').count()).toBe(1);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await eventually(async () => expect(await focusedName(page)).toContain('Dialog'));
  });

  it('keeps a dialog open that needs an answer', async () => {
    await button(page, 'Required').click();
    await page.getByRole('dialog', { name: 'Token' }).waitFor();
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    await button(page, 'Continue').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('runs the entry of a menu, and switches a checked one', async () => {
    await button(page, 'Menu').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('p');
    await page.keyboard.press('Enter');
    await button(page, 'Menu').click();
    expect(await page.getByRole('menuitemcheckbox', { name: 'Pinned' }).getAttribute('aria-checked')).toBe('true');
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await eventually(async () => expect(await page.locator('output').textContent()).toBe('delete'));
  });

  it('chooses an option by its first letter', async () => {
    const select = page.getByRole('button', { name: /^Effort/ });
    await select.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitemradio', { name: 'Fast' }).waitFor();
    await page.keyboard.press('d');
    await page.keyboard.press('Enter');
    await eventually(async () => expect(await select.textContent()).toContain('Deep'));
  });

  it('moves in tabs and in a tree by arrow keys, each with one Tab stop', async () => {
    await page.getByRole('tab', { name: 'All' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByText('Changed files').waitFor();

    const row = (name: string) => page.getByRole('treeitem', { name });
    expect(await page.locator('[role="treeitem"][tabindex="0"]').count()).toBe(1);
    await row('src').focus();
    await page.keyboard.press('ArrowLeft');
    await row('main.ts').waitFor({ state: 'detached' });
    await page.keyboard.press('ArrowRight');
    await row('main.ts').waitFor();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await eventually(async () => expect(await row('main.ts').getAttribute('aria-selected')).toBe('true'));
    await page.keyboard.press('ArrowLeft');
    expect(await focusedName(page)).toBe('src');
    await page.keyboard.press('r');
    expect(await focusedName(page)).toBe('README.md');
  });

  it('sizes a region by arrow keys and by dragging, within its limits', async () => {
    const splitter = page.getByRole('separator', { name: 'Width of the list' });
    const size = async () => Number(await splitter.getAttribute('aria-valuenow'));
    await splitter.focus();
    await page.keyboard.press('ArrowRight');
    expect(await size()).toBe(196);
    await page.keyboard.press('Home');
    expect(await size()).toBe(120);
    const box = await splitter.boundingBox();
    if (!box) throw new Error('The splitter is not visible');
    await page.mouse.move(box.x, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + 40, box.y + 10);
    expect(await size()).toBe(160);
    await page.mouse.move(box.x + 900, box.y + 10);
    await page.mouse.up();
    expect(await size()).toBe(240);
  });

  it('leaves a switch as it is when the change is refused', async () => {
    await page.getByRole('switch', { name: 'Refused' }).click();
    expect(await page.getByRole('switch', { name: 'Refused' }).getAttribute('aria-checked')).toBe('false');
    await page.getByRole('switch', { name: 'Notifications' }).click();
    expect(await page.getByRole('switch', { name: 'Notifications' }).getAttribute('aria-checked')).toBe('false');
  });

  it('shows a tooltip at the focus, with the keys, and closes it with Esc', async () => {
    await page.getByRole('button', { name: 'Danger' }).focus();
    for (const _ of Array.from({ length: 4 })) await page.keyboard.press('Tab');
    await page.getByRole('tooltip').filter({ hasText: 'Search' }).waitFor();
    expect(await page.getByRole('tooltip').locator('kbd').allTextContents()).toEqual(['Ctrl', 'K']);
    await page.keyboard.press('Escape');
    await page.getByRole('tooltip').waitFor({ state: 'detached' });
  });

  it('keeps a toast with an action until it is answered', async () => {
    await button(page, 'Toast').click();
    await button(page, 'Undo').click();
    await page.locator('.ui-toast').waitFor({ state: 'detached' });
    expect(await page.locator('output').textContent()).toBe('undo');
  });
});

it('displays a menu of a narrow window as a sheet with targets of 44 px', async () => {
  page = await open('light', { viewport: { width: 390, height: 700 } });
  await button(page, 'Menu').click();
  const menu = page.locator('.ui-menu');
  await eventually(async () => {
    const box = await menu.boundingBox();
    expect(box).toMatchObject({ x: 0, width: 390 });
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBe(700);
  });
  const { height } = (await page.getByRole('menuitem', { name: 'Rename' }).boundingBox()) ?? { height: 0 };
  expect(height).toBeGreaterThanOrEqual(44);
});

/** The members that the running animations change; their time is stretched so that none has ended. */
async function animated(): Promise<string[]> {
  await page.evaluate(
    `for (const time of ['--enter', '--quick']) document.documentElement.style.setProperty(time, '60s')`,
  );
  const found = new Set<string>();
  for (const name of ['Menu', 'Popover', 'Dialog', 'Sheet', 'Toast']) {
    const part = floating[name];
    if (!part) throw new Error(`No part ${name}`);
    await part.open(page);
    await page.locator(part.selector).waitFor();
    const keyframes = `document.getAnimations().flatMap(({ effect }) => effect.getKeyframes()).flatMap(Object.keys)`;
    for (const member of await page.evaluate<string[]>(keyframes)) found.add(member);
    await page.evaluate(`document.getAnimations().forEach((animation) => animation.finish())`).catch(() => undefined);
    await page.keyboard.press('Escape');
    if (name !== 'Toast') await page.locator(part.selector).waitFor({ state: 'detached' });
  }
  return [...found].filter((member) => !/^(offset|computedOffset|easing|composite)$/.test(member)).toSorted();
}

it('moves parts that enter, except with reduced motion, which keeps opacity only', async () => {
  page = await open('light', { reducedMotion: 'no-preference' });
  expect(await animated()).toEqual(['opacity', 'transform']);
  await page.close();
  page = await open('light', { reducedMotion: 'reduce' });
  expect(await animated()).toEqual(['opacity']);
  const transition = await button(page, 'Plain').evaluate(
    `getComputedStyle(document.querySelector('.ui-button')).transitionProperty`,
  );
  expect(transition).toBe('opacity');
});

it('displays selection, switches and the focus where the system forces its colours', async () => {
  page = await open('light', { forcedColors: 'active' });
  await page.getByRole('treeitem', { name: 'README.md' }).click();
  const look = (selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((element) => {
        const { backgroundColor, borderTopColor } = getComputedStyle(element);
        return `${backgroundColor} in ${borderTopColor}`;
      });
  const pairs = [
    ['.ui-button.plain[aria-pressed="true"]', '.ui-button.plain:not([aria-pressed])'],
    ['.ui-icon-button[aria-pressed="true"]', '.ui-icon-button:not([aria-pressed])'],
    ['.ui-line[aria-current]', '.ui-line:not([aria-current])'],
    ['.ui-tab[data-state="active"]', '.ui-tab:not([data-state="active"])'],
    ['.ui-switch-track[data-state="checked"]', '.ui-switch-track[data-state="unchecked"]'],
    ['.ui-tree-row.selected', '.ui-tree-row:not(.selected)'],
  ] as const;
  for (const [selected, other] of pairs) {
    const isSame = (await look(selected)) === (await look(other));
    expect({ selected, isSame }).toEqual({ selected, isSame: false });
  }

  // The colours of the system: the ring is that of selection, a text that of its control.
  await button(page, 'Plain').focus();
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Tab');
  const [ring, highlight] = await page.evaluate<[string, string]>(`(() => {
    const probe = document.body.appendChild(document.createElement('span'));
    probe.style.cssText = 'forced-color-adjust: none; color: Highlight';
    return [getComputedStyle(document.activeElement).outlineColor, getComputedStyle(probe).color];
  })()`);
  expect(ring).toBe(highlight);

  await button(page, 'Menu').click();
  await page.getByRole('menuitem', { name: 'Rename' }).hover();
  const outline = await page
    .locator('.ui-menu-item[data-highlighted]')
    .evaluate((element) => getComputedStyle(element).outlineStyle);
  expect(outline).toBe('solid');
});

it.runIf(process.env['PICTURES'])(
  'draws the pictures of docs/design.md',
  async () => {
    for (const theme of ['light', 'dark'] as const) {
      page = await open(theme);
      const shots = [{ name: 'At rest', image: await page.locator('main').screenshot() }];
      for (const [name, { selector, open }] of Object.entries(floating)) {
        await open(page);
        shots.push({ name, image: await page.locator(selector).screenshot({ animations: 'disabled' }) });
        await page.keyboard.press('Escape');
        if (name !== 'Toast') await page.locator(selector).waitFor({ state: 'detached' });
      }
      const figures = shots.map(
        ({ name, image }) =>
          `<figure><img src="data:image/png;base64,${image.toString('base64')}"><figcaption>${name}</figcaption></figure>`,
      );
      const [ground, ink] = theme === 'light' ? ['#f4f4f6', '#444'] : ['#0c0d10', '#bbb'];
      const sheetPage = await browser.newPage({ viewport: window });
      await sheetPage.setContent(
        `<body style="margin:0;background:${ground};color:${ink};font:13px system-ui;display:flex;flex-wrap:wrap;gap:12px;padding:12px">
        <style>figure{margin:0}img{max-width:1240px}figure+figure img{max-height:260px;object-fit:cover;object-position:top}</style>
        ${figures.join('')}</body>`,
      );
      const sheet = await sheetPage.screenshot({ fullPage: true });
      await sheetPage.close();
      const { size } = await sharp(sheet).png({ palette: true, colours: 64 }).toFile(`docs/parts-${theme}.png`);
      expect(size).toBeLessThanOrEqual(MOST_BYTES);
      if (theme === 'light') await page.close();
    }
  },
  PICTURES_MS,
);
