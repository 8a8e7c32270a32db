/** The regions of the page: elements with `data-region`, in the order of the document. */
import type { Region } from '../features/feature.ts';

const FOCUSABLE = 'a[href], button, input, select, textarea, [tabindex]';
const names: readonly Region[] = ['sidebar', 'conversation', 'prompt', 'panel', 'drawer'];

/** The element that last had the focus, by region. */
const last = new WeakMap<Element, HTMLElement>();

const regionElement = (element: Element | null) => element?.closest<HTMLElement>('[data-region]') ?? undefined;

/** The region of an element. */
export function regionOf(element: EventTarget | null): Region | undefined {
  const name = element instanceof Element ? regionElement(element)?.dataset['region'] : undefined;
  return names.find((known) => known === name);
}

/** Call it with the elements that get the focus, so that their regions return it to them. */
export function rememberFocus(element: EventTarget | null): void {
  if (!(element instanceof HTMLElement)) return;
  const region = regionElement(element);
  if (region) last.set(region, element);
}

const isReachable = (element: HTMLElement) =>
  element.tabIndex >= 0 && element.checkVisibility() && !element.matches(':disabled');

/** The field of a prompt, the conversation itself, elsewhere the first element that Tab reaches. */
function entryOf(region: HTMLElement): HTMLElement | undefined {
  // In the region of the prompt, it is always the text that is meant.
  const before = region.dataset['region'] === 'prompt' ? undefined : last.get(region);
  if (before && region.contains(before) && isReachable(before)) return before;
  const all = [...region.querySelectorAll<HTMLElement>(FOCUSABLE)].filter(isReachable);
  return all.find((element) => element.matches('textarea, [role=log], .row')) ?? all[0];
}

/** Moves the focus to a region; false if it is not displayed or has no element to focus. */
export function focusRegion(name: Region, within: ParentNode = document): boolean {
  const all = within.querySelectorAll<HTMLElement>(`[data-region="${name}"]`);
  const entry = [...all].filter((region) => region.checkVisibility()).flatMap((region) => entryOf(region) ?? [])[0];
  entry?.focus();
  return entry !== undefined;
}

/** Moves the focus to the next displayed region, or to the one before. */
export function cycleRegions(by: 1 | -1): void {
  const all = [...document.querySelectorAll<HTMLElement>('[data-region]')].filter((region) => region.checkVisibility());
  const current = all.indexOf(regionElement(document.activeElement) ?? document.body);
  const start = current === -1 && by === -1 ? 0 : current;
  for (let step = 1; step <= all.length; step += 1) {
    const entry = entryOf(all[(start + by * step + all.length * step) % all.length] ?? document.body);
    if (!entry) continue;
    entry.focus();
    return;
  }
}
