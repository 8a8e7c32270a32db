/** Conditions under which a card accepts an answer: held keys, the time after it was drawn, the end of long text. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { usePage } from '#support/browser.ts';
import { useBuiltServer } from '#support/built-server.ts';

const built = useBuiltServer();
let page: Page;
let requests: string[];

usePage(
  () => built.server,
  (opened) => ({ page, requests } = opened),
);

const visible = { state: 'visible' } as const;
const questions = () => page.getByRole('group', { name: 'Question', exact: true });
const card = () => page.getByRole('group', { name: /^Approval:/ });
const approve = () => card().getByRole('button', { name: 'Approve', exact: true });
const canApprove = () => expect.poll(() => approve().isEnabled()).toBe(true);
const field = () => page.getByRole('textbox', { name: 'Prompt' });

interface Call {
  name: string;
  args: unknown;
}

/** Opens a session on the page whose model makes these calls in one step. */
async function ask(...calls: Call[]) {
  const session = await built.newSession();
  built.base.model.enqueue({ calls });
  built.base.model.enqueue({ text: 'All is said.' });
  await page.goto(`${built.server.url}/#/s/${session}`);
  await field().fill('go');
  await field().press('Enter');
  await card().or(questions()).first().waitFor(visible);
}

/** The number of answers that the page has sent; the calls of a step run after all of them are answered. */
const sent = () => requests.filter((request) => /^POST .*\/approvals\//.test(request)).length;
const answers = () => requests.filter((request) => /^POST .*\/questions\//.test(request)).length;
/** A question in the background, so that several can be open at the same time. */
const question = (text: string) => ({
  name: 'AskUserQuestion',
  args: { questions: [{ question: text, options: [{ label: 'Yes' }, { label: 'No' }] }], background: true },
});
const skip = (at = 0) => questions().nth(at).getByRole('button', { name: 'Skip' });
/** Waits for all questions up to that one: each has a timer of its own, so a later one can be ready first. */
async function canSkip(last = 0) {
  for (let at = 0; at <= last; at++) await expect.poll(() => skip(at).isEnabled()).toBe(true);
}
/** In a hidden tab cards count as not drawn, so none becomes ready. */
const hide = (state: string) =>
  page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })`);
const touches = () =>
  [1, 2, 3, 4, 5].map((number) => ({ name: 'Bash', args: { command: `touch file-${number} && true` } }));
const shows = (number: number) =>
  card()
    .locator('pre', { hasText: `file-${number}` })
    .waitFor(visible);

/** Presses Alt+Y and clicks Approve in the moment in which the card with that text is drawn, on a machine of any speed. */
const pressWhenDrawn = (text: string) =>
  page.evaluate(`new MutationObserver((_, observer) => {
    const card = document.querySelector('[role="group"][aria-label^="Approval:"]');
    if (!card?.textContent.includes('${text}')) return;
    observer.disconnect();
    for (const type of ['keyup', 'keydown', 'keyup']) {
      window.dispatchEvent(new KeyboardEvent(type, { code: 'KeyY', altKey: true }));
    }
    [...card.querySelectorAll('button')].find((button) => button.textContent.trim() === 'Approve').click();
    window.pressed = true;
  }).observe(document.body, { subtree: true, childList: true, characterData: true })`);

it('approves one call of five while Alt+Y is held, and the next one with the next press', async () => {
  await ask(...touches());
  await canApprove();
  await page.keyboard.down('Alt');
  await page.keyboard.down('y');
  await expect.poll(sent).toBe(1);
  await shows(2);
  // Playwright sends a repeated event for each further `down`; the card would accept a press after 500 ms.
  for (let count = 0; count < 20; count++) await page.keyboard.down('y');
  await canApprove();
  for (let count = 0; count < 20; count++) await page.keyboard.down('y');
  await page.keyboard.up('y');
  await page.keyboard.press('y');
  await expect.poll(sent).toBe(2);
  await page.keyboard.up('Alt');
  await shows(3);
  expect(sent()).toBe(2);
});

it('accepts no key and no click before a card was drawn for 500 ms; two presses 600 ms apart are two', async () => {
  await ask(...touches());
  await canApprove();
  await field().focus();
  await pressWhenDrawn('file-2');
  await page.keyboard.press('Alt+y');
  await shows(2);
  await canApprove();
  expect(await page.evaluate('pressed')).toBe(true);
  expect(sent()).toBe(1);
  await page.keyboard.press('Alt+y');
  await shows(3);
  expect(sent()).toBe(2);
});

it('requires the release of a key before the next card reacts to it, also where no event is a repeated one', async () => {
  const send = (type: string) =>
    page.evaluate(`window.dispatchEvent(new KeyboardEvent('${type}', { code: 'KeyY', altKey: true }))`);
  await ask(...touches());
  await canApprove();
  await send('keydown');
  await shows(2);
  await canApprove();
  await send('keydown');
  expect(await approve().isEnabled()).toBe(true);
  expect(sent()).toBe(1);
  await send('keyup');
  await send('keydown');
  await shows(3);
  expect(sent()).toBe(2);
});

it.each(['Control+Alt+y', 'Meta+Alt+y', 'y', 'Alt+Shift+x'])('does not react to %s', async (keys) => {
  await ask(...touches());
  await canApprove();
  await page.keyboard.press(keys);
  await canApprove();
  await shows(1);
  await page.keyboard.press('Alt+y');
  await shows(2);
  expect(sent()).toBe(1);
});

it('on a Mac reacts to Option+Y only while no text is written', async () => {
  await page.addInitScript("Object.defineProperty(navigator, 'platform', { value: 'MacIntel' })");
  await page.reload();
  await ask(...touches());
  await canApprove();
  await field().focus();
  await page.keyboard.press('Alt+y');
  await canApprove();
  await shows(1);
  await page.evaluate("document.querySelector('textarea').blur()");
  await page.keyboard.press('Alt+y');
  await shows(2);
});

it('accepts consent after the whole request has been loaded', async () => {
  let release = () => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/CommandBody-*.js', async (route) => {
    await gate;
    await route.continue();
  });
  await page.reload();
  await ask({ name: 'Bash', args: { command: 'touch a && true' } });
  await expect.poll(() => card().getByRole('button', { name: 'Reject …' }).isEnabled()).toBe(true);
  expect(await approve().isDisabled()).toBe(true);
  release();
  await canApprove();
});

it('accepts consent after the end of a long command has been in view, also by keyboard', async () => {
  const command = `npm test \\\n${'  --reporter=verbose \\\n'.repeat(40)}; curl x | sh`;
  await ask({ name: 'Bash', args: { command } });
  await card().getByText('42 lines').waitFor(visible);
  await card().getByText('Scroll to the end to approve').waitFor(visible);
  expect(await card().getByRole('button', { name: 'Reject …' }).isEnabled()).toBe(true);
  await page.keyboard.press('Alt+y');
  expect(await approve().isEnabled()).toBe(false);
  expect(sent()).toBe(0);
  await card().locator('.code-text').focus();
  await page.keyboard.press('End');
  await canApprove();
  expect(await card().getByText('Scroll to the end').count()).toBe(0);
  await page.keyboard.press('Alt+y');
  await expect.poll(sent).toBe(1);
});

it('accepts consent to a long file after the wheel has reached its end', async () => {
  const content = Array.from({ length: 200 }, (_, line) => `line ${line}`).join('\n');
  await ask({ name: 'Write', args: { path: '.agents/notes', content } });
  await card().getByText('200 lines').waitFor(visible);
  await card().getByText('Scroll to the end to approve').waitFor(visible);
  expect(await approve().isEnabled()).toBe(false);
  await card().locator('.code-text').hover();
  await page.mouse.wheel(0, 100_000);
  await canApprove();
});

it('accepts consent after the start of a card that is higher than the window has been in view', async () => {
  await page.setViewportSize({ width: 900, height: 400 });
  await ask({ name: 'Bash', args: { command: `cat <<EOF\n${'line\n'.repeat(12)}EOF` } });
  await expect.poll(() => card().getByRole('button', { name: 'Reject …' }).isEnabled()).toBe(true);
  expect(await approve().isEnabled()).toBe(false);
  await card().locator('header').scrollIntoViewIfNeeded();
  await canApprove();
});

it('accepts no click on a question that has moved to where another one was, until it was drawn there for 500 ms', async () => {
  // All three are in view.
  await page.setViewportSize({ width: 1200, height: 900 });
  await ask(question('One?'), question('Two?'), question('Three?'));
  await canSkip(2);
  // The time does not count while the page is hidden, so the test does not depend on its speed.
  await hide('hidden');
  await skip().click();
  await expect.poll(() => questions().count()).toBe(2);
  await skip().click({ force: true });
  await questions().first().getByText('Yes').click({ force: true });
  await skip(1).click({ force: true });
  expect(answers()).toBe(1);
  expect(await questions().getByRole('radio', { checked: true }).count()).toBe(0);
  await hide('visible');
  await canSkip();
  await skip().click();
  await expect.poll(() => questions().count()).toBe(1);
  expect(answers()).toBe(2);
});

it('accepts no click on a question that has moved to where an approval was', async () => {
  built.base.model.enqueue({ calls: [question('One?')] });
  await ask(...touches().slice(0, 1));
  await card().waitFor(visible);
  await canSkip();
  await canApprove();
  await hide('hidden');
  await approve().click();
  await card().waitFor({ state: 'hidden' });
  expect(await skip().isEnabled()).toBe(false);
  await hide('visible');
  await canSkip();
});

it('accepts a text for a question before options and buttons are ready', async () => {
  await page.addInitScript("Object.defineProperty(document, 'visibilityState', { value: 'hidden' })");
  await page.reload();
  await ask(question('One?'));
  expect(await skip().isEnabled()).toBe(false);
  expect(await questions().getByRole('radio', { name: 'Yes' }).isEnabled()).toBe(false);
  await questions().getByRole('textbox').fill('both');
  await page.keyboard.press('Enter');
  await expect.poll(answers).toBe(1);
  await questions().waitFor({ state: 'hidden' });
});

it('one press of a key answers a question; repeated events, Ctrl and Meta do not', async () => {
  await ask(question('One?'), question('Two?'));
  await canSkip(1);
  await field().focus();
  await page.keyboard.down('Enter');
  await skip().focus();
  await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  await page.keyboard.press('Control+Enter');
  await page.keyboard.press('Meta+Enter');
  await page.keyboard.press('Control+Space');
  expect(answers()).toBe(0);
  await page.keyboard.press('Enter');
  await expect.poll(() => questions().count()).toBe(1);
  await canSkip();
  await questions().getByRole('textbox').fill('yes');
  await page.keyboard.press('Enter');
  await questions().waitFor({ state: 'hidden' });
  expect(answers()).toBe(2);
});

it('two fast clicks approve one of two calls, and leave the other one', async () => {
  await ask(...touches().slice(0, 2));
  await canApprove();
  const { x = 0, y = 0, width = 0, height = 0 } = (await approve().boundingBox()) ?? {};
  await page.mouse.dblclick(x + width / 2, y + height / 2, { delay: 5 });
  await shows(2);
  await canApprove();
  expect(sent()).toBe(1);
});

it('displays an approval a single time, at the place of its call, with its directory', async () => {
  await ask({ name: 'Bash', args: { command: 'touch a && true' } });
  await canApprove();
  expect(await page.locator('[data-tool="Bash"]').count()).toBe(0);
  expect(await page.getByRole('log').getByText('touch a', { exact: false }).count()).toBeLessThanOrEqual(2);
  expect(await page.getByText('Waiting for your approval').count()).toBe(0);
  await card()
    .getByText(/^in \//)
    .waitFor(visible);
  expect(await approve().boundingBox()).toMatchObject({ height: 36 });
});

it('marks 5,000 spaces before the second command', async () => {
  await ask({ name: 'Bash', args: { command: `ls${' '.repeat(5000)}; rm -rf src` } });
  await card().locator('pre mark', { hasText: '5000' }).waitFor(visible);
  await card().locator('pre', { hasText: 'rm -rf src' }).waitFor(visible);
  await canApprove();
});

it('on a phone has two buttons of 44 px, 16 px apart, below the whole text', async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  await ask({ name: 'Bash', args: { command: `cat <<EOF\n${'line\n'.repeat(40)}EOF` } });
  await expect.poll(() => card().getByRole('button', { name: 'Reject …' }).isEnabled()).toBe(true);
  const [yes, no, text] = await Promise.all([
    approve().boundingBox(),
    card().getByRole('button', { name: 'Reject …' }).boundingBox(),
    card().locator('pre').boundingBox(),
  ]);
  if (!yes || !no || !text) throw new Error('not drawn');
  expect([yes.height, no.height, no.x - yes.x - yes.width]).toEqual([44, 44, 16]);
  expect(text.y + text.height).toBeLessThanOrEqual(yes.y);
  expect(text.height).toBeGreaterThan(600);
  expect(await card().getByRole('button', { name: 'Approve for this session' }).isVisible()).toBe(false);
  await card().getByRole('button', { name: 'More answers' }).click();
  await card().getByRole('button', { name: 'Approve for this session' }).waitFor(visible);
});

it('Enter in the prompt box approves nothing, nor does the Enter of a composition send', async () => {
  await ask({ name: 'Bash', args: { command: 'touch a && true' } });
  await canApprove();
  await field().focus();
  await page.keyboard.press('Enter');
  await field().fill('こん');
  const prompts = () => requests.filter((request) => /^POST .*\/prompts$/.test(request)).length;
  const before = prompts();
  await field().dispatchEvent('keydown', { key: 'Enter', code: 'Enter', isComposing: true });
  await field().dispatchEvent('keydown', { key: 'Enter', code: 'Enter', keyCode: 229 });
  await page.keyboard.press('Enter');
  await expect.poll(prompts).toBe(before + 1);
  await expect.poll(() => field().inputValue()).toBe('');
  expect(sent()).toBe(0);
});

it('closes the card of an approval that was answered elsewhere, and reports it', async () => {
  await ask({ name: 'Bash', args: { command: 'touch a && true' } });
  await canApprove();
  await page.route('**/approvals/*', (route) =>
    route.fulfill({
      json: { code: 40902, msg: 'approval x already resolved', data: { resolved: false }, request_id: 'r' },
    }),
  );
  await approve().click();
  await page.getByText('It was answered elsewhere.', { exact: false }).waitFor(visible);
  await card().waitFor({ state: 'hidden' });
});

it('number keys select an option of a question, and Enter answers', async () => {
  await ask(question('One?'));
  await canSkip();
  await page.evaluate('document.activeElement.blur()');
  await page.keyboard.press('2');
  await expect.poll(() => questions().getByRole('radio', { name: 'No' }).isChecked()).toBe(true);
  await expect.poll(() => questions().getByRole('button', { name: 'Answer' }).isEnabled()).toBe(true);
  await page.keyboard.press('Enter');
  await questions().waitFor({ state: 'hidden' });
  expect(answers()).toBe(1);
});

it('plays the sound in a context that is not secure while the tab is hidden, and says why it cannot notify', async () => {
  await page.addInitScript(`
    delete Navigator.prototype.locks;
    delete Navigator.prototype.serviceWorker;
    Object.defineProperty(window, 'isSecureContext', { value: false });
    const { createOscillator } = AudioContext.prototype;
    AudioContext.prototype.createOscillator = function () {
      window.notes = (window.notes ?? 0) + 1;
      return createOscillator.call(this);
    };`);
  await page.reload();
  await page.getByRole('button', { name: 'Notifications' }).click();
  await page.getByText('Browsers allow notifications only on https').waitFor(visible);
  expect(await page.getByRole('switch', { name: 'Notify me while this tab is hidden' }).isEnabled()).toBe(false);
  await page.getByRole('switch', { name: 'Play a sound' }).click();
  await page.keyboard.press('Escape');
  const notes = () => page.evaluate('window.notes ?? 0');
  const needs = page.getByRole('region', { name: 'Needs you' });
  async function wait() {
    built.base.model.enqueue({ calls: [{ name: 'Bash', args: { command: 'touch a && true' } }] });
    await built.prompt(await built.newSession(), 'go');
  }
  await wait();
  await needs.getByText('1 session waits').waitFor(visible);
  await hide('hidden');
  await wait();
  await needs.getByText('2 sessions wait').waitFor(visible);
  await expect.poll(notes).toBe(2);
  await hide('visible');
});

it('of two hidden tabs one notifies of a session that waits, which can be answered in the list of sessions', async () => {
  const { origin } = new URL(built.server.url);
  const context = page.context();
  await context.grantPermissions(['notifications'], { origin });
  await page.evaluate(`localStorage.setItem('service-code.notify/', 'on')`);
  const session = await built.newSession();
  const hidden = `Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true })`;
  await page.addInitScript(hidden);
  await page.reload();
  const other = await context.newPage();
  await other.addInitScript(hidden);
  await other.goto(`${built.server.url}/#token=${built.server.token}`);
  const counted = `ServiceWorkerRegistration.prototype.showNotification = function () { window.shown = (window.shown ?? 0) + 1; return Promise.resolve(); }`;
  for (const tab of [page, other]) {
    await tab.getByText('Nothing needs you').waitFor(visible);
    await tab.evaluate(counted);
  }
  built.base.model.enqueue({ calls: [{ name: 'Bash', args: { command: 'touch a && true' } }] });
  built.base.model.enqueue({ text: 'All is said.' });
  await built.prompt(session, 'go');
  const needs = page.getByRole('region', { name: 'Needs you' });
  await needs.getByText('1 session waits').waitFor(visible);
  const shown = () => Promise.all([page, other].map((tab) => tab.evaluate('window.shown ?? 0')));
  await expect.poll(async () => (await shown()).toSorted()).toEqual([0, 1]);
  await other.close();

  await hide('visible');
  await needs.getByRole('button', { name: /^Answer here/ }).click();
  await canApprove();
  await approve().click();
  await needs.getByText('Nothing needs you').waitFor(visible);
  expect(sent()).toBe(1);
});

it.each([
  ['at its end', 0],
  ['scrolled up', -5000],
])('moves a card from the list of sessions to the place of its call in a conversation %s', async (_, wheel) => {
  const [session, other] = [await built.newSession(), await built.newSession()];
  // The panes are created before that part of the list, and updated before it.
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(/\/NeedsYou-/, async (route) => {
    await released;
    await route.continue();
  });
  await page.goto(`${built.server.url}/#/s/${other}`);
  await page.reload();
  await field().waitFor(visible);
  release();

  await page.goto(`${built.server.url}/#/s/${session}`);
  built.base.model.enqueue({ text: `${'line\n\n'.repeat(80)}the last one` });
  await field().fill('go');
  await field().press('Enter');
  const log = page.getByRole('log', { name: 'Conversation', exact: true });
  await log.getByText('the last one').waitFor(visible);
  await log.hover();
  await page.mouse.wheel(0, wheel);
  const toEnd = page.getByRole('button', { name: 'Go to the newest message' });
  if (wheel < 0) await toEnd.waitFor(visible);
  await page.goto(`${built.server.url}/#/s/${other}`);
  await log.getByText('the last one').waitFor({ state: 'hidden' });
  built.base.model.enqueue({ calls: [{ name: 'Bash', args: { command: 'touch a && true' } }] });
  await built.prompt(session, 'and now');

  const needs = page.getByRole('region', { name: 'Needs you' });
  await needs.getByRole('button', { name: /^Answer here/ }).click();
  await canApprove();
  expect(await log.getByRole('group', { name: /^Approval:/ }).count()).toBe(0);
  await needs.locator(`a[href="#/s/${session}"]`).click();
  await log.getByRole('group', { name: /^Approval:/ }).waitFor(visible);
  expect(await page.locator('[data-tool="Bash"]').count()).toBe(0);
  await canApprove();
  expect(await card().count()).toBe(1);
  expect(await page.locator('[data-tool="Bash"]').count()).toBe(0);
});

it('lists a session that waits, however many newer ones there are', async () => {
  const session = await built.newSession();
  built.base.model.enqueue({ calls: [{ name: 'Bash', args: { command: 'touch a && true' } }] });
  built.base.model.enqueue({ text: 'All is said.' });
  await built.prompt(session, 'go');
  const needs = page.getByRole('region', { name: 'Needs you' });
  await needs.getByText('1 session waits').waitFor(visible);
  for (let count = 0; count < 60; count += 1) await built.newSession();
  await page.reload();
  await needs.getByText('1 session waits').waitFor(visible);
  await expect.poll(() => page.title()).toMatch(/^\(1\)/);
  await needs.getByRole('link').click();
  await canApprove();
  await approve().click();
  await needs.getByText('Nothing needs you').waitFor(visible);
});

it('notifies with the title and the kind, marks the icon of the tab, and a click leads to the card', async () => {
  const context = page.context();
  await context.grantPermissions(['notifications'], { origin: new URL(built.server.url).origin });
  await page.evaluate(`localStorage.setItem('service-code.notify/', 'on')`);
  await page.addInitScript(`
    Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
    window.notices = [];
    ServiceWorkerRegistration.prototype.showNotification = async (title, options) => void window.notices.push({ title, ...options });
  `);
  await page.reload();
  const needs = page.getByRole('region', { name: 'Needs you' });
  await needs.getByText('Nothing needs you').waitFor(visible);
  const icon = () => page.locator('link[rel=icon]').getAttribute('href');
  await expect.poll(icon).toMatch(/icon\.svg$/);

  const waiting = async (title: string, call: Call) => {
    const made = await built.ok('POST', '/sessions', { metadata: { cwd: built.base.project }, title });
    const { id } = z.object({ id: z.string() }).parse(made);
    built.base.model.enqueue({ calls: [call] });
    built.base.model.enqueue({ text: 'All is said.' });
    await built.prompt(id, 'go');
    return id;
  };
  const asked = await waiting('Names', question('One?'));
  const session = await waiting('Files', { name: 'Bash', args: { command: 'touch a && true' } });
  await needs.getByText('2 sessions wait').waitFor(visible);
  await expect.poll(icon).toMatch(/icon-waiting\.svg$/);
  const notices = () => page.evaluate('window.notices.map(({ title, body, data }) => [title, body, data.sessionId])');
  await expect.poll(notices).toEqual([
    ['Names', 'Has a question', asked],
    ['Files', 'Waits for your approval', session],
  ]);

  const [worker] = context.serviceWorkers();
  if (!worker) throw new Error('no service worker');
  await hide('visible');
  // As the browser reports a click.
  const data = JSON.stringify(await page.evaluate('window.notices[1].data'));
  await worker.evaluate(`self.dispatchEvent(Object.assign(new Event('notificationclick'), {
    notification: { close() {}, data: ${data} },
    // Only a click of a person may focus the tab.
    waitUntil: (work) => void work.catch(() => {}),
  })), undefined`);
  await canApprove();
  expect(new URL(page.url()).hash).toBe(`#/s/${session}`);
  await approve().click();
  await needs.getByText('1 session waits').waitFor(visible);
  await needs.getByRole('link').click();
  await canSkip();
  await skip().click();
  await needs.getByText('Nothing needs you').waitFor(visible);
  await expect.poll(icon).toMatch(/icon\.svg$/);
});
