/** The parts of a page that several tests use, by the names that a person reads. */
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { eventually } from './patience.ts';

export const visible = { state: 'visible' } as const;
export const hidden = { state: 'hidden' } as const;

export function locatorsOf(page: Page) {
  const pane = (title: string) => page.getByRole('region', { name: title, exact: true });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const card = (within: Page | Locator = page) => within.getByRole('group', { name: /^Approval:/ });
  return {
    pane,
    button,
    prompt: (within: Page | Locator = page) => within.getByRole('textbox', { name: 'Prompt' }),
    card,
    approve: (within: Page | Locator = page) => card(within).getByRole('button', { name: 'Approve', exact: true }),
    question: (within: Page | Locator = page) => within.getByRole('group', { name: 'Question', exact: true }),
    link: (title: string) =>
      page.getByRole('navigation', { name: 'Sessions', exact: true }).getByRole('link', { name: title }),
    needsYou: () => page.getByRole('region', { name: 'Needs you' }),
    isFocused: (element: Locator) => expect.poll(() => element.evaluate((node) => node.matches(':focus'))).toBe(true),
  };
}

/** Clicks a button of a card until the card is gone: one that has moved in this moment ignores the click. */
export const answer = (card: Locator, name = 'Approve') =>
  eventually(async () => {
    if (await card.isHidden()) return;
    const button = card.getByRole('button', { name, exact: true });
    // A card that is higher than the window is read from its start to its end first.
    await card.locator('header').first().scrollIntoViewIfNeeded({ timeout: 2000 });
    await button.click({ timeout: 2000 });
    await card.waitFor({ ...hidden, timeout: 2000 });
  });

export type PageLocators = ReturnType<typeof locatorsOf>;
