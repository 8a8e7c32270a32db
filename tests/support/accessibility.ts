/** Checks a page with axe-core as it is displayed on a wide screen and on a phone, in the light and the dark theme. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

export const DESKTOP = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };
const SCHEMES = ['light', 'dark'] as const;

let source: Promise<string> | undefined;
const axeSource = () => (source ??= readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));

/** In the page: resolves when no part enters or leaves, because half transparent text has less contrast. */
const SETTLED = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))).then(() =>
  Promise.allSettled(document.getAnimations()
    .filter((animation) => animation.effect?.getComputedTiming().endTime !== Infinity)
    .map((animation) => animation.finished)))`;

/** The findings of axe in the whole page, as it is displayed: WCAG 2.2 AA and best practice. */
export async function axeFindings(page: Page): Promise<string[]> {
  if (!(await page.evaluate(`'axe' in globalThis`))) await page.evaluate(await axeSource());
  await page.evaluate(SETTLED);
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, {
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    resultTypes: ['violations'],
  })`);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, html, failureSummary = '' }) => `${id}: ${target.join(' ')}: ${html}\n${failureSummary}`),
  );
}

/** Fails if axe has a finding in one of the four variants; afterwards the page has its size and theme again. */
export async function expectAccessible(page: Page, sizes: { width: number; height: number }[] = [DESKTOP, PHONE]) {
  const before = page.viewportSize() ?? DESKTOP;
  const found: Record<string, string[]> = {};
  for (const size of sizes.toSorted((a) => (a.width === before.width ? -1 : 1))) {
    await page.setViewportSize(size);
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const all = await axeFindings(page);
      if (all.length > 0) found[`${size.width} px, ${colorScheme}`] = all;
    }
  }
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'no-preference' });
  await page.setViewportSize(before);
  expect.soft(found).toEqual({});
}
