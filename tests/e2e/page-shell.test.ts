/** Panes, panels, keys and the regions of a phone: the built page on the built server, with a scripted model. */
import type { Page, Route } from 'playwright-core';
import { beforeEach, expect, it } from 'vitest';
import * as z from 'zod';
import { usePage } from '#support/browser.ts';
import { useBuiltServer } from '#support/built-server.ts';

const built = useBuiltServer(undefined, { per: 'file' });
let page: Page;

usePage(
  () => built.server,
  (opened) => ({ page } = opened),
);

const visible = { state: 'visible' } as const;
const hidden = { state: 'hidden' } as const;
const pane = (title: string) => page.getByRole('region', { name: title, exact: true });
const panes = () => page.locator('.session-pane');
const field = (title: string) => pane(title).getByRole('textbox', { name: 'Prompt' });
const card = (title: string) => pane(title).getByRole('group', { name: /^Approval:/ });
const button = (name: string) => page.getByRole('button', { name, exact: true });
const link = (title: string) =>
  page.getByRole('navigation', { name: 'Sessions', exact: true }).getByRole('link', { name: title });
const hash = () => new URL(page.url()).hash;
const isFocused = (element: ReturnType<typeof field>) =>
  expect.poll(() => element.evaluate((node) => node.matches(':focus'))).toBe(true);

let count = 0;
/** A name that no other session of the file has. */
const unique = (name: string) => `${name} ${(count += 1)}`;

async function newSession(title: string): Promise<string> {
  const id = await built.newSession();
  await built.ok('POST', `/sessions/${id}/profile`, { title });
  return id;
}

const open = async (...ids: string[]) => {
  await page.goto(`${built.server.url}/#/s/${ids.join('+')}`);
  await panes().first().getByRole('textbox', { name: 'Prompt' }).waitFor(visible);
};

/** Starts a turn whose command waits for an approval. */
async function startWaiting(id: string, command: string) {
  built.base.model.enqueue({ calls: [{ name: 'Bash', args: { command } }] });
  await built.prompt(id, 'go');
  await expect.poll(() => pendingOf(id)).toBe('approval');
}

const sessionSchema = z.object({ pending_interaction: z.string() });
const pendingOf = async (id: string) =>
  sessionSchema.parse(await built.ok('GET', `/sessions/${id}`)).pending_interaction;

beforeEach(() => page.setViewportSize({ width: 1400, height: 800 }));

/** In the page, before its scripts: sums up how far parts move that are already drawn. */
const watchShifts = `
  globalThis.shifted = 0;
  new PerformanceObserver((list) => {
    for (const { value } of list.getEntries()) globalThis.shifted += value;
  }).observe({ type: 'layout-shift', buffered: true });
`;

// The first one: others leave sessions that wait, which are listed once they are known.
it('moves no part while the code of others is loaded, and while an answer arrives', async () => {
  const title = unique('Still');
  // The tools of the conversation have a line of their own.
  await page.setViewportSize({ width: 1200, height: 800 });
  const id = await newSession(title);
  built.base.model.enqueue({ text: 'First answer.' });
  await built.prompt(id, 'First.');
  await page.addInitScript(watchShifts);
  await page.reload();
  await page.getByText('Nothing needs you').waitFor(visible);
  await open(id);
  await pane(title).getByRole('button', { name: 'View of the conversation' }).waitFor(visible);
  await pane(title).getByText('First answer.').waitFor(visible);
  built.base.model.enqueue({ text: 'Second answer.' });
  await built.prompt(id, 'Second.');
  await pane(title).getByText('Second answer.').waitFor(visible);
  expect(await page.evaluate('globalThis.shifted')).toBeLessThan(0.003);
});

it('answers the approval of the focused pane only, where two panes wait', async () => {
  const [left, right] = [unique('Left'), unique('Right')];
  const ids = [await newSession(left), await newSession(right)];
  await startWaiting(ids[0] ?? '', 'touch left');
  await startWaiting(ids[1] ?? '', 'touch right');
  await open(...ids);
  await card(left).waitFor(visible);
  await card(right).waitFor(visible);
  built.base.model.enqueue({ text: 'Done.' });
  const approve = card(right).getByRole('button', { name: 'Approve', exact: true });
  await expect.poll(() => approve.isEnabled()).toBe(true);
  await field(right).focus();
  await page.keyboard.press('Alt+y');
  await card(right).waitFor(hidden);
  await expect.poll(() => pendingOf(ids[1] ?? '')).toBe('none');
  expect(await pendingOf(ids[0] ?? '')).toBe('approval');
  await card(left).waitFor(visible);
});

it('opens sessions next to each other from the menu, by keys and by dragging, and keeps the layout over a reload', async () => {
  const [one, two, three] = [unique('One'), unique('Two'), unique('Three')];
  const [first = '', second = '', third = ''] = [await newSession(one), await newSession(two), await newSession(three)];
  await open(first);
  await link(two).hover();
  await button(`Menu of ${two}`).click();
  await page.getByRole('menuitem', { name: 'Open to the right' }).click();
  await expect.poll(hash).toBe(`#/s/${first}+${second}`);
  await pane(two).waitFor(visible);

  await page.keyboard.press('Control+\\');
  const palette = page.getByRole('dialog', { name: 'Search' });
  await palette.getByRole('combobox', { name: 'Search sessions' }).fill(`@${three}`);
  await palette.getByRole('option', { name: three }).waitFor(visible);
  await page.keyboard.press('Enter');
  await expect.poll(hash).toBe(`#/s/${first}+${second}+${third}`);

  await pane(two).getByRole('button', { name: 'Files', exact: true }).click();
  await pane(two).getByRole('tab', { name: 'Files' }).waitFor(visible);
  const splitter = page.getByRole('separator', { name: 'Width of the sidebar' });
  const before = Number(await splitter.getAttribute('aria-valuenow'));
  await splitter.focus();
  await page.keyboard.press('ArrowRight');
  expect(Number(await splitter.getAttribute('aria-valuenow'))).toBeGreaterThan(before);
  const layout = async () => ({
    sidebar: await splitter.getAttribute('aria-valuenow'),
    panes: await panes().evaluateAll((all) => all.map((element) => element.getAttribute('aria-label'))),
    panels: await page.getByRole('tab', { selected: true }).allTextContents(),
  });
  const stored = await layout();
  await page.reload();
  await pane(two).getByRole('tab', { name: 'Files' }).waitFor(visible);
  await expect.poll(layout).toEqual(stored);
  await pane(two).getByRole('button', { name: 'Close the panel' }).click();

  // A dragged session replaces that of the pane.
  await pane(three).getByRole('button', { name: 'Session menu' }).click();
  await page.getByRole('menuitem', { name: 'Close this pane' }).click();
  await expect.poll(hash).toBe(`#/s/${first}+${second}`);
  await link(three).dragTo(pane(one), { targetPosition: { x: 60, y: 300 } });
  await expect.poll(hash).toBe(`#/s/${third}+${second}`);
});

it('keeps the focus in a pane that was displayed alone', async () => {
  const [left, right] = [unique('Left'), unique('Right')];
  await open(await newSession(left), await newSession(right));
  const focusedPane = () => page.locator('.session-pane.focused').getAttribute('aria-label');
  const toggle = async () => {
    await pane(right).getByRole('button', { name: 'Session menu' }).click();
    await page.getByRole('menuitem', { name: 'Show only this region' }).click();
  };
  await toggle();
  await field(left).waitFor(hidden);
  await toggle();
  await field(left).waitFor(visible);
  expect(await focusedPane()).toBe(right);
  await field(right).focus();
  await page.setViewportSize({ width: 390, height: 800 });
  await field(left).waitFor(hidden);
  await page.setViewportSize({ width: 1400, height: 800 });
  await field(left).waitFor(visible);
  await isFocused(field(right));
});

it('keeps the sessions of all panes followed while others are visited', async () => {
  const [left, right] = [unique('Kept left'), unique('Kept right')];
  const [kept = '', other = ''] = [await newSession(left), await newSession(right)];
  const visited = [];
  for (let number = 0; number < 8; number += 1) visited.push(await newSession(unique('Visited')));
  await open(kept, other);
  await field(right).focus();
  for (const id of visited) {
    await page.locator(`a[href="#/s/${id}"]`).click();
    await expect.poll(hash).toBe(`#/s/${kept}+${id}`);
  }
  built.base.model.enqueue({ text: 'Still followed.' });
  await built.prompt(kept, 'hello');
  await pane(left).getByText('Still followed.').waitFor(visible);
});

it('draws no reply of a session that was left in another one', async () => {
  const [left, entered] = [unique('Left behind'), unique('Entered')];
  const [slow = '', fast = ''] = [await newSession(left), await newSession(entered)];
  let release = () => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  const held = new Set<string>();
  const hold = async (route: Route) => {
    held.add(new URL(route.request().url()).pathname);
    await gate;
    await route.continue().catch(() => undefined);
  };
  await open(fast);
  await page.route(`**/sessions/${slow}**`, hold);
  await page.route(`**/sessions/${slow}/**`, hold);
  await link(left).click();
  await expect.poll(hash).toBe(`#/s/${slow}`);
  await expect.poll(() => held.size).toBeGreaterThan(0);
  await link(entered).click();
  await pane(entered).waitFor(visible);
  await field(entered).fill('mine');
  release();
  await page.unrouteAll({ behavior: 'wait' });
  await link(left).waitFor(visible);
  expect(await panes().count()).toBe(1);
  await pane(entered).waitFor(visible);
  expect(await field(entered).inputValue()).toBe('mine');

  // A copy that arrives after the user has left does not take the pane, or the session that is open then.
  let copied = () => {};
  const copy = new Promise<void>((resolve) => (copied = resolve));
  await page.route(`**/sessions/${fast}:fork`, async (route) => {
    const reply = await route.fetch();
    await copy;
    await route.fulfill({ response: reply });
  });
  await button('Session menu').click();
  const replied = page.waitForResponse(/:fork$/);
  await page.getByRole('menuitem', { name: 'Continue in a copy' }).click();
  await button('Open the copy').click();
  await page.keyboard.press('Escape');
  await link(left).first().click();
  await pane(left).waitFor(visible);
  copied();
  await replied;
  await page.evaluate('new Promise((resolve) => setTimeout(resolve))');
  expect(hash()).toBe(`#/s/${slow}`);
});

it('leads from the start to the prompt box, and from the list to it, with few keys', async () => {
  const title = unique('By keyboard');
  const id = await newSession(title);
  built.base.model.enqueue({
    calls: [1, 2, 3, 4, 5].map((number) => ({ name: 'Read', args: { path: `missing-${number}` } })),
  });
  built.base.model.enqueue({ text: 'All is read.' });
  await built.prompt(id, 'go');
  await open(id);
  await pane(title).getByText('All is read.').waitFor(visible);

  // As after the load of a page that has not moved the focus.
  await page.evaluate('document.body.tabIndex = -1, document.body.focus(), document.body.removeAttribute("tabindex")');
  await page.keyboard.press('Tab');
  await isFocused(button('Skip to the prompt box'));
  await page.keyboard.press('Enter');
  await isFocused(field(title));

  await link(title).focus();
  let tabs = 0;
  while (!(await field(title).evaluate((node) => node.matches(':focus')))) {
    await page.keyboard.press('Tab');
    expect((tabs += 1)).toBeLessThan(16);
  }
  await page.keyboard.press('Shift+F6');
  await page.keyboard.press('Shift+F6');
  await expect.poll(() => page.locator('[data-region="sidebar"] :focus').count()).toBe(1);
  await page.keyboard.press('F6');
  await page.keyboard.press('F6');
  await isFocused(field(title));
});

it('runs commands by the position of their keys, as on a Mac, and lists the keys', async () => {
  const title = unique('Keys');
  await open(await newSession(title));
  await isFocused(field(title));
  // Option+N begins an accent there, whose key has the code of a composition.
  await page.evaluate(`document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {
    code: 'KeyN', key: 'Dead', keyCode: 229, altKey: true, bubbles: true, cancelable: true }))`);
  await page.getByRole('dialog', { name: 'New session' }).waitFor(visible);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog', { name: 'New session' }).waitFor(hidden);

  // In the prompt box the character is typed.
  await field(title).fill('');
  await field(title).press('?');
  expect(await field(title).inputValue()).toBe('?');
  await page.getByRole('log').first().focus();
  await page.keyboard.press('?');
  const list = page.getByRole('dialog', { name: 'Keys' });
  await list.getByText('Open the palette').waitFor(visible);
  // No command runs while a dialog is open.
  await page.keyboard.press('Control+b');
  await page.keyboard.press('Escape');
  await list.waitFor(hidden);
  const sidebar = page.getByRole('complementary', { name: 'Sidebar' });
  await sidebar.waitFor(visible);
  await page.keyboard.press('Control+b');
  await sidebar.waitFor(hidden);
  await button('Show the sidebar').click();
  await sidebar.waitFor(visible);
});

it('lists the keys of the panel that has the focus', async () => {
  const title = unique('Own keys');
  await open(await newSession(title));
  await page.keyboard.press('Control+Shift+d');
  await page.getByRole('tab', { name: 'Review' }).focus();
  await page.keyboard.press('?');
  const list = page.getByRole('dialog', { name: 'Keys' });
  await list.getByText('Next change').waitFor(visible);
  expect(await list.getByText('Next turn').count()).toBe(0);
});

it('reports why a command of the slash menu has failed', async () => {
  const title = unique('Failing');
  await open(await newSession(title));
  await page.route('**/sessions/*:compact', (route) =>
    route.fulfill({ json: { code: 50001, msg: 'no room left', data: null, request_id: 'r' } }),
  );
  await page.route('**/sessions/*/export*', (route) =>
    route.fulfill({ json: { code: 50001, msg: 'no room left', data: null, request_id: 'r' } }),
  );
  await field(title).fill('/export');
  await page.getByRole('option', { name: /xport/ }).first().click();
  await page.getByText('no room left').waitFor(visible);
});

it('moves the focus to the pane of a session that is open', async () => {
  const [one, two] = [unique('Here'), unique('There')];
  const ids = [await newSession(one), await newSession(two)];
  await open(...ids);
  await field(two).focus();
  await field(one).focus();
  await page.keyboard.press('Alt+Backquote');
  await isFocused(field(two));
  await page.keyboard.type('for there');
  expect(await field(two).inputValue()).toBe('for there');
  expect(await field(one).inputValue()).toBe('');
  await link(one).click();
  await isFocused(field(one));
});

it('opens a panel, the drawer and the sidebar also while another region is displayed alone', async () => {
  const title = unique('Covered');
  await open(await newSession(title));
  const alone = async () => {
    await pane(title).getByRole('button', { name: 'Session menu' }).click();
    await page.getByRole('menuitem', { name: 'Show only this region' }).click();
    await page.getByRole('complementary', { name: 'Sidebar' }).waitFor(hidden);
  };
  await alone();
  await page.keyboard.press('Control+Shift+d');
  await pane(title).getByRole('tab', { name: 'Review' }).waitFor(visible);
  await field(title).focus();
  // It is open, but covered.
  await alone();
  await pane(title).getByRole('tab', { name: 'Review' }).waitFor(hidden);
  await page.keyboard.press('Control+Shift+d');
  await pane(title).getByRole('tab', { name: 'Review' }).waitFor(visible);
  await field(title).focus();
  await alone();
  await page.keyboard.press('Control+j');
  await pane(title).getByRole('tab', { name: 'Terminal' }).or(pane(title).locator('.xterm')).first().waitFor(visible);
  await field(title).focus();
  await alone();
  await page.keyboard.press('Control+b');
  await page.getByRole('complementary', { name: 'Sidebar' }).waitFor(visible);
});

it('has the title of a session in its tab that the list does not have', async () => {
  const title = unique('Archived');
  const id = await newSession(title);
  await built.ok('POST', `/sessions/${id}:archive`);
  await open(id);
  await expect.poll(() => page.title()).toMatch(new RegExp(`^(\\(\\d+\\) )?${title} · `));
});

it('lists each command a single time, and no keys twice', async () => {
  const title = unique('Commands');
  await open(await newSession(title));
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Search' });
  await palette.getByRole('combobox').fill('>');
  const options = palette.getByRole('option');
  await options.filter({ hasText: 'Review' }).waitFor(visible);
  const titles = await options.locator('.page-palette-text').allTextContents();
  expect(titles.filter((name, at) => titles.indexOf(name) !== at)).toEqual([]);
  const keys = await options.locator('.ui-keys').allInnerTexts();
  expect(keys).toContain('Ctrl\nK');
  expect(keys.filter((name, at) => keys.indexOf(name) !== at)).toEqual([]);
});

it('closes the innermost part at Escape, and a panel that covers the conversation by its button', async () => {
  const title = unique('Escape');
  await page.setViewportSize({ width: 800, height: 800 });
  await open(await newSession(title));
  await pane(title).getByRole('button', { name: 'Files', exact: true }).click();
  await pane(title).getByRole('tab', { name: 'Files' }).waitFor(visible);
  await field(title).waitFor(hidden);
  await page.reload();
  await button('Close the panel').click();
  await field(title).waitFor(visible);
  await pane(title).getByRole('button', { name: 'Files', exact: true }).click();
  await pane(title).getByRole('tab', { name: 'Files' }).focus();
  await page.keyboard.press('Escape');
  await field(title).waitFor(visible);
  await isFocused(field(title));
});

it('shows one region at a time on a phone, and Back leads out of each', async () => {
  const title = unique('On a phone');
  await newSession(title);
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto(`${built.server.url}/#/`);
  await page.reload();
  await page.getByRole('heading', { name: 'Service Code' }).waitFor(visible);
  await button('New session').filter({ visible: true }).first().waitFor(visible);
  await button('Sessions').click();
  await link(title).click();
  await field(title).waitFor(visible);
  const name = pane(title).getByRole('heading', { name: title });
  expect((await name.boundingBox())?.width).toBeGreaterThan(120);

  await button('Changes').click();
  await pane(title).getByRole('button', { name: 'Close the panel' }).waitFor(visible);
  await field(title).waitFor(hidden);
  await page.goBack();
  await field(title).waitFor(visible);
  await button('More').click();
  await page.getByRole('dialog', { name: 'More' }).getByRole('button', { name: 'MCP' }).click();
  await pane(title).getByRole('button', { name: 'Close the panel' }).click();
  await field(title).waitFor(visible);
  await button('More').click();
  await page.getByRole('dialog', { name: 'More' }).waitFor(visible);
  await page.goBack();
  await page.getByRole('dialog', { name: 'More' }).waitFor(hidden);
  await page.goBack();
  await link(title).waitFor(visible);
  await page.goBack();
  await page.getByRole('heading', { name: 'Service Code' }).waitFor(visible);
});

it('closes the palette, dialogs, menus and popovers by Back on a phone before it leaves a region', async () => {
  const [title, other] = [unique('Back'), unique('Another')];
  const [id, another] = [await newSession(title), await newSession(other)];
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto(`${built.server.url}/#/`);
  await page.reload();
  await button('Sessions').click();
  await link(title).click();
  await field(title).waitFor(visible);
  await button('Changes').click();
  const panel = pane(title).getByRole('button', { name: 'Close the panel' });
  await panel.waitFor(visible);
  const palette = page.getByRole('dialog', { name: 'Search' });
  const dialog = page.getByRole('dialog', { name: 'Compact the conversation?' });

  await page.keyboard.press('Control+k');
  await palette.waitFor(visible);
  await page.goBack();
  await palette.waitFor(hidden);
  await panel.waitFor(visible);
  // It is closed in another way: its entry is left too.
  await page.keyboard.press('Control+k');
  await palette.waitFor(visible);
  await page.keyboard.press('Escape');
  await palette.waitFor(hidden);
  await expect.poll(() => page.evaluate('history.state?.overlays ?? 0')).toBe(0);
  await page.goBack();
  await field(title).waitFor(visible);

  // A dialog takes over the entry of the menu that has opened it.
  await button('Session menu').click();
  await page.getByRole('menuitem', { name: 'Compact the conversation …' }).click();
  await dialog.waitFor(visible);
  await page.goBack();
  await dialog.waitFor(hidden);
  await page.goForward();
  await expect.poll(() => page.evaluate('history.state?.overlays ?? 0')).toBe(0);
  expect(await dialog.count()).toBe(0);
  await field(title).waitFor(visible);
  await button('Attach files, change settings').click();
  const more = page.getByRole('dialog', { name: 'Attach files, change settings' });
  await more.waitFor(visible);
  await page.goBack();
  await more.waitFor(hidden);
  await field(title).waitFor(visible);

  // Back leads to the place before the palette, not to the palette.
  await button('More').click();
  await page.getByRole('dialog', { name: 'More' }).getByRole('button', { name: 'Open the palette' }).click();
  await palette.getByRole('combobox').fill(`@${other}`);
  await palette.getByRole('option', { name: other }).click();
  await expect.poll(hash).toBe(`#/s/${another}`);
  await field(other).waitFor(visible);
  await page.goBack();
  await expect.poll(hash).toBe(`#/s/${id}`);
  await field(title).waitFor(visible);
  expect(await palette.count()).toBe(0);
  await page.keyboard.press('Control+k');
  await palette.waitFor(visible);
  // Its entry is added in a task after it is drawn.
  await expect.poll(() => page.evaluate('history.state?.overlays')).toBe(1);
  await page.reload();
  await field(title).waitFor(visible);
  await expect.poll(() => page.evaluate('history.state?.overlays ?? 0')).toBe(0);
  await page.goBack();
  await link(title).waitFor(visible);
});

it('has a working prompt box after the settings of a phone were closed by Escape', async () => {
  const title = unique('Plus');
  await page.setViewportSize({ width: 390, height: 800 });
  await open(await newSession(title));
  for (const press of [1, 2]) {
    await button('Attach files, change settings').click();
    const more = page.getByRole('dialog', { name: 'Attach files, change settings' });
    await more.waitFor(visible);
    await page.keyboard.press('Escape');
    await more.waitFor(hidden);
    await field(title).click();
    await page.keyboard.type(`hello ${press}`);
    expect(await field(title).inputValue()).toBe(`hello ${press}`);
    built.base.model.enqueue({ text: `Answer ${press}.` });
    await page.keyboard.press('Enter');
    await pane(title).getByText(`Answer ${press}.`).waitFor(visible);
    expect(await field(title).inputValue()).toBe('');
  }
  // A part of the settings is closed without the rest.
  await button('Attach files, change settings').click();
  const more = page.getByRole('dialog', { name: 'Attach files, change settings' });
  await more.getByRole('button', { name: /^Permission mode/ }).click();
  await page.getByRole('menuitemradio').first().waitFor(visible);
  await page.keyboard.press('Escape');
  await page.getByRole('menuitemradio').first().waitFor(hidden);
  await page.keyboard.press('Escape');
  await more.waitFor(hidden);
  await field(title).fill('again');
  await button('Send').click();
  await expect.poll(() => field(title).inputValue()).toBe('');
});

it('leaves the height of an on-screen keyboard to the conversation and the prompt box', async () => {
  const title = unique('Keyboard');
  await page.setViewportSize({ width: 390, height: 500 });
  await open(await newSession(title));
  await field(title).focus();
  await page.getByRole('navigation', { name: 'Regions' }).waitFor(hidden);
  const box = await field(title).boundingBox();
  expect((box?.y ?? 0) + (box?.height ?? Infinity)).toBeLessThanOrEqual(500);
});

it('sets theme and density from the palette, the menu of the sidebar and the sheet of a phone, and keeps them over a reload', async () => {
  const title = unique('Look');
  await open(await newSession(title));
  const root = () => page.evaluate('({ ...document.documentElement.dataset })');
  const row = async () => (await link(title).boundingBox())?.height;
  const bodySize = () => page.evaluate('getComputedStyle(document.body).fontSize');
  expect(await root()).toMatchObject({ theme: 'system', density: 'comfortable' });
  expect([await row(), await bodySize()]).toEqual([32, '14px']);

  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('>density compact');
  await page.keyboard.press('Enter');
  await expect.poll(root).toMatchObject({ density: 'compact' });
  expect([await row(), await bodySize()]).toEqual([28, '13px']);

  await button('Colours and density').click();
  await page.getByRole('menuitemcheckbox', { name: 'Dark' }).click();
  await expect.poll(root).toMatchObject({ theme: 'dark' });

  await page.reload();
  await link(title).waitFor(visible);
  expect(await root()).toMatchObject({ theme: 'dark', density: 'compact' });
  expect(await page.evaluate('({ ...localStorage })')).toMatchObject({
    'service-code.theme/': 'dark',
    'service-code.density/': 'compact',
  });

  // The list of sessions, which has the menu, is not drawn on a phone with an open session.
  await page.setViewportSize({ width: 390, height: 800 });
  await page.reload();
  await expect.poll(root).toMatchObject({ theme: 'dark' });
  await page.getByRole('navigation', { name: 'Regions' }).getByRole('button', { name: 'More' }).click();
  await page
    .getByRole('dialog', { name: 'More' })
    .getByRole('button', { name: /^Colours:/ })
    .click();
  await page.getByRole('menuitemradio', { name: 'High contrast' }).click();
  await expect.poll(root).toMatchObject({ theme: 'contrast' });
});
