/** Work with several sessions: in two panes, on a phone, and next to another client. Build the page first. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { DESKTOP, expectAccessible, PHONE } from '#support/accessibility.ts';
import { openPage, usePage } from '#support/browser.ts';
import { useBuiltServer } from '#support/built-server.ts';
import { answer, hidden, locatorsOf, visible, type PageLocators } from '#support/page-locators.ts';

const built = useBuiltServer(undefined, { per: 'file' });
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

const stateSchema = z.object({ busy: z.boolean(), pending_interaction: z.string() });
const state = async (id: string) => stateSchema.parse(await built.ok('GET', `/sessions/${id}`));
const idle = (id: string) => expect.poll(() => state(id)).toEqual({ busy: false, pending_interaction: 'none' });
const waits = (id: string, kind: string) => expect.poll(async () => (await state(id)).pending_interaction).toBe(kind);

async function newSession(title: string): Promise<string> {
  const id = await built.newSession();
  await built.ok('POST', `/sessions/${id}/profile`, { title });
  return id;
}

const pendingSchema = z.object({
  items: z.array(z.object({ approval_id: z.string().optional(), question_id: z.string().optional() })),
});
async function pendingId(session: string, kind: 'approvals' | 'questions'): Promise<string> {
  const data = await built.ok('GET', `/sessions/${session}/${kind}?status=pending`);
  const [item] = pendingSchema.parse(data).items;
  const id = item?.approval_id ?? item?.question_id;
  if (id === undefined) throw new Error(`no pending ${kind}`);
  return id;
}

async function send(text: string, title: string) {
  const prompt = on.prompt(on.pane(title));
  await prompt.fill(text);
  await prompt.press('Enter');
  await expect.poll(() => prompt.inputValue()).toBe('');
}

it('a day: three sessions in two panes, of which one waits, one fails and one is steered', async () => {
  const { model } = built.base;
  const [cleaning, breaking, writing] = [
    await newSession('Clean up'),
    await newSession('Break'),
    await newSession('Write docs'),
  ];
  await on.link('Clean up').click();
  await on.isFocused(on.prompt(on.pane('Clean up')));
  await on.link('Break').hover();
  await on.button('Menu of Break').click();
  await page.getByRole('menuitem', { name: 'Open to the right' }).click();
  await on.pane('Break').waitFor(visible);

  model.enqueue({ calls: [{ name: 'Bash', args: { command: 'touch cleaned && true' } }] });
  await send('Clean the project', 'Clean up');
  await on.card(on.pane('Clean up')).waitFor(visible);
  model.enqueue({ status: 400, error: 'the model is out of order' });
  await send('Go', 'Break');
  await on.pane('Break').getByRole('alert').getByText('out of order').waitFor(visible);
  await page.getByRole('link', { name: /Break.*last turn failed/ }).waitFor(visible);
  await expectAccessible(page);

  // The third session takes the pane of the failed one.
  await on.prompt(on.pane('Break')).focus();
  await on.link('Write docs').click();
  await on.pane('Break').waitFor(hidden);
  const held = model.enqueue({ text: 'I begin with the introduction.', hold: true });
  await send('Write the docs', 'Write docs');
  await on.pane('Write docs').getByText('I begin with the introduction.').waitFor(visible);
  const asked = model.requests.length;
  await on.prompt(on.pane('Write docs')).fill('Only the reference');
  await page.keyboard.press('Control+Enter');
  await expect.poll(() => on.prompt(on.pane('Write docs')).inputValue()).toBe('');
  model.enqueue({ text: 'The reference, then.' });
  held.release();
  const request = await model.waitForRequest(asked + 1);
  expect(JSON.stringify(request.body)).toContain('Only the reference');
  await on.pane('Write docs').getByText('The reference, then.').waitFor(visible);
  await idle(writing);

  // The one that waits is answered from wherever the person is.
  await on.needsYou().getByText('1 session waits').waitFor(visible);
  await page.keyboard.press('Alt+w');
  await expect.poll(() => on.approve(on.pane('Clean up')).isEnabled()).toBe(true);
  model.enqueue({ text: 'All clean.' });
  await page.keyboard.press('Alt+y');
  await on.pane('Clean up').getByText('All clean.').waitFor(visible);
  await on.needsYou().getByText('Nothing needs you').waitFor(visible);
  await readFile(join(built.base.project, 'cleaned'));
  await idle(cleaning);

  await on.link('Break').click();
  model.enqueue({ text: 'It works now.' });
  await send('Again', 'Break');
  await on.pane('Break').getByText('It works now.').waitFor(visible);
  await idle(breaking);
  await expect.poll(() => page.getByRole('link', { name: /last turn failed/ }).count()).toBe(0);
});

it('approves on a phone what was read to its end', async () => {
  const session = await newSession('From the phone');
  const browser = page.context().browser();
  if (!browser) throw new Error('the page has no browser');
  const { page: phone, errors } = await openPage(browser, built.server, {
    viewport: PHONE,
    hasTouch: true,
    isMobile: true,
  });
  const at = locatorsOf(phone);
  built.base.model.enqueue({
    calls: [{ name: 'Bash', args: { command: `cat > notes <<EOF\n${'a line\n'.repeat(60)}EOF` } }],
  });
  await built.prompt(session, 'Write notes');
  await waits(session, 'approval');
  await at.button('Sessions').tap();
  await at.needsYou().getByText('1 session waits').waitFor(visible);
  await expectAccessible(phone, [PHONE]);
  await at
    .needsYou()
    .getByRole('link', { name: /From the phone/ })
    .tap();
  await at.card().waitFor(visible);
  // Its end is in view, then its header.
  await expect.poll(() => at.card().getByRole('button', { name: 'Reject …' }).isEnabled()).toBe(true);
  const touch = await phone.context().newCDPSession(phone);
  // Next to the text of the card, which has a scroll position of its own.
  await touch.send('Input.synthesizeScrollGesture', { x: 8, y: 300, yDistance: 1000, speed: 4000 });
  await expect.poll(() => at.approve().isEnabled()).toBe(true);
  await expectAccessible(phone, [PHONE]);
  built.base.model.enqueue({ text: 'Written.' });
  await answer(at.card());
  await phone.getByText('Written.').waitFor(visible);
  await idle(session);
  expect(await readFile(join(built.base.project, 'notes'), 'utf8')).toContain('a line');
  await phone.context().close();
  expect(errors).toEqual([]);
});

it('closes what another client has answered, and reports an answer that was too late', async () => {
  const session = await newSession('Two clients');
  await page.goto(`${built.server.url}/#/s/${session}`);
  const { model } = built.base;
  const command = (number: number) => ({ name: 'Bash', args: { command: `touch other-${number} && true` } });
  model.enqueue({ calls: [command(1)] });
  await send('Go', 'Two clients');
  await on.card().waitFor(visible);
  model.enqueue({ calls: [command(2)] });
  const first = await pendingId(session, 'approvals');
  await built.ok('POST', `/sessions/${session}/approvals/${first}`, { decision: 'approved' });
  await on.card().getByText('other-2').first().waitFor(visible);

  // This answer arrives after that of the other client.
  const second = await pendingId(session, 'approvals');
  model.enqueue({
    calls: [
      {
        name: 'AskUserQuestion',
        args: { questions: [{ question: 'Which one?', options: [{ label: 'This' }, { label: 'That' }] }] },
      },
    ],
  });
  await page.route(`**/approvals/${second}`, async (route) => {
    await built.ok('POST', `/sessions/${session}/approvals/${second}`, { decision: 'rejected' });
    await route.continue();
  });
  await expect.poll(() => on.approve().isEnabled()).toBe(true);
  await on.approve().click();
  await page.getByText('It was answered elsewhere. Your answer was not used.').waitFor(visible);
  await on.card().waitFor(hidden);

  await on.question().waitFor(visible);
  const question = await pendingId(session, 'questions');
  model.enqueue({ text: 'As you wish.' });
  const dismissed = await built.server.api('POST', `/sessions/${session}/questions/${question}:dismiss`);
  expect(dismissed.data).toMatchObject({ dismissed: true });
  await on.question().waitFor(hidden);
  await page.getByText('As you wish.').waitFor(visible);
  await idle(session);
});
