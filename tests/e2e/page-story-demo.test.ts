/** The first minute of a new user: `npm run demo`, the printed address, a session, the tour. Build the page first. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { DESKTOP, expectAccessible, PHONE } from '#support/accessibility.ts';
import { launchBrowser, openPage } from '#support/browser.ts';
import { startDemo } from '#support/demo.ts';
import { answer, hidden, visible } from '#support/page-locators.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

it.each([
  ['on a wide screen', DESKTOP],
  ['on a phone', PHONE],
])('leads from the printed address through the tour, %s', async (_, viewport) => {
  const demo = await startDemo();
  onTestFinished(demo.stop);
  const [url = '', token = ''] = demo.address.split('#token=');
  const isPhone = viewport === PHONE;
  const { page, errors } = await openPage(browser, { url, token }, { viewport, hasTouch: isPhone });
  onTestFinished(() => page.context().close());
  await page.getByRole('heading', { name: 'Service Code' }).waitFor(visible);
  if (isPhone) await expectAccessible(page);
  await page.getByRole('main').getByRole('button', { name: 'New session' }).click();
  await page
    .getByRole('dialog', { name: 'New session' })
    .getByRole('button', { name: 'Demo project' })
    .waitFor(visible);
  if (isPhone) await expectAccessible(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Demo project' }).click();
  const prompt = page.getByRole('textbox', { name: 'Prompt' });
  await prompt.fill('tour');
  await prompt.press('Enter');

  const question = page.getByRole('group', { name: 'Question', exact: true });
  await question.waitFor(visible);
  if (!isPhone) await expectAccessible(page);
  await question.getByRole('radio', { name: 'It is fine' }).check();
  await answer(question, 'Answer');

  // Every further stop that asks is approved.
  const asked = page.getByRole('group', { name: /^(Approval: .*|Plan)$/ });
  const end = page.getByText('That was the tour');
  const approved: (string | null)[] = [];
  for (;;) {
    await asked.or(end).first().waitFor(visible);
    if (await end.isVisible()) break;
    const label = await asked.getAttribute('aria-label');
    if (label === 'Plan' && !isPhone) await expectAccessible(page);
    await answer(page.getByRole('group', { name: label ?? '', exact: true }));
    approved.push(label);
  }
  expect(approved).toContain('Plan');
  expect(approved.length).toBeGreaterThan(2);
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor(hidden);
  if (isPhone) {
    await page.getByRole('button', { name: 'Changes', exact: true }).click();
    await page.getByRole('list', { name: 'Changed files' }).getByText('demo-tour.txt').waitFor(visible);
    await expectAccessible(page, [PHONE]);
  } else {
    await expectAccessible(page);
    const panels = page.getByRole('toolbar', { name: 'Panels' });
    for (const name of ['Review', 'Plan and tasks', 'Agents', 'Files', 'Terminal']) {
      await panels.getByRole('button', { name, exact: true }).click();
      await page.getByRole('complementary', { name, exact: true }).waitFor(visible);
      await expectAccessible(page, [DESKTOP]);
    }
  }
  expect(errors).toEqual([]);
});
