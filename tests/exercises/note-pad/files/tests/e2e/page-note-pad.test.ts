/** The card of the note pad in a real browser. */
import { resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { usePage } from '#support/browser.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
let page: Page;
beforeEach(async () => {
  world = await startWorld({ webDirectory: resolve(import.meta.dirname, '../../web/dist') });
});
afterEach(() => world.close());
usePage(
  () => world.server,
  (opened) => ({ page } = opened),
);

it('displays the note, and changes of other clients and of the user', async () => {
  const { id } = await world.session();
  await world.ok('PUT', `/sessions/${id}/note`, { content: 'first' });
  await page.goto(`${world.server.url}/#/s/${id}`);
  const field = page.getByRole('textbox', { name: 'Note' });
  await expect.poll(() => field.inputValue()).toBe('first');
  await world.ok('PUT', `/sessions/${id}/note`, { content: 'second' });
  await expect.poll(() => field.inputValue()).toBe('second');
  await field.fill('third');
  await field.blur();
  await expect.poll(() => world.ok('GET', `/sessions/${id}/note`)).toEqual({ content: 'third' });
});
