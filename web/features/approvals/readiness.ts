/** When a card that requests consent accepts an answer. */
import { onBeforeUnmount, onMounted, shallowRef, watch, type ComponentPublicInstance, type ShallowRef } from 'vue';

/** A card that has just appeared, or moved up to be the first, may receive an answer meant for the one before it. */
const DRAWN_MS = 500;
const CHECK_MS = 50;

export interface Readiness {
  /** The buttons have been in view for 500 ms; keys and clicks are accepted. */
  ready: ShallowRef<boolean>;
  /** The header and the end of each scrolling box have been in view as well; consent is accepted. */
  canApprove: ShallowRef<boolean>;
}

function isInView(element: Element): boolean {
  const { left, top, bottom, width } = element.getBoundingClientRect();
  const at = document.elementFromPoint(left + width / 2, (top + bottom) / 2);
  return at !== null && element.contains(at);
}

const isScrollBox = (element: Element) =>
  element.scrollHeight > element.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(element).overflowY);

const isAtEnd = ({ scrollTop, clientHeight, scrollHeight }: Element) => scrollTop + clientHeight >= scrollHeight - 2;

/**
 * Observes the card until it can be approved; starts over when `answers` (it accepts keys and clicks) changes. A polled
 * geometry is used because a dialog over the card or a hidden tab counts as not drawn, too.
 */
export function useReadiness(card: () => ComponentPublicInstance | null, answers: () => boolean): Readiness {
  const ready = shallowRef(false);
  const canApprove = shallowRef(false);
  let drawnSince: number | undefined;
  let timer: ReturnType<typeof setInterval> | undefined;
  const seen = new WeakSet<Element>();

  function check() {
    const root: unknown = card()?.$el;
    const actions = root instanceof HTMLElement ? root.querySelector('.actions') : null;
    const header = root instanceof HTMLElement ? root.querySelector('header') : null;
    if (!(root instanceof HTMLElement) || !actions || !header) return;
    const isDrawn = document.visibilityState === 'visible' && isInView(actions);
    drawnSince = isDrawn ? (drawnSince ?? performance.now()) : undefined;
    const boxes = [...root.querySelectorAll('.what, .what *')].filter(isScrollBox);
    for (const box of boxes) if (isDrawn && isAtEnd(box)) seen.add(box);
    if (document.visibilityState === 'visible' && isInView(header)) seen.add(header);
    if (drawnSince !== undefined && performance.now() - drawnSince >= DRAWN_MS) ready.value = true;
    canApprove.value = ready.value && [header, ...boxes].every((part) => seen.has(part));
    if (canApprove.value) clearInterval(timer);
  }

  function restart() {
    clearInterval(timer);
    ready.value = canApprove.value = false;
    drawnSince = undefined;
    timer = setInterval(check, CHECK_MS);
  }

  onMounted(restart);
  watch(answers, restart);
  onBeforeUnmount(() => clearInterval(timer));
  return { ready, canApprove };
}
