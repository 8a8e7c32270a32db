/** Decides when a card that requests consent accepts an answer. */
import {
  computed,
  onBeforeUnmount,
  onMounted,
  shallowRef,
  watch,
  type ComponentPublicInstance,
  type ShallowRef,
} from 'vue';
import { useOpenSession } from '../../stores/session.ts';

/** A card that has just appeared, or moved to where another one was, may receive an answer meant for that one. */
const DRAWN_MS = 500;
const CHECK_MS = 50;

export interface Readiness {
  /** The card has been drawn for 500 ms; keys and clicks are accepted. */
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
 * Observes the card of request `id` until it can be approved; starts over when the cards before it change, because it
 * moves then. It is drawn while one of `parts` (a selector; default: the buttons) is in view. A polled geometry is used
 * because a dialog over the card or a hidden tab counts as not drawn, too.
 */
export function useReadiness(
  card: () => ComponentPublicInstance | null,
  id: () => string,
  parts = '.actions',
): Readiness {
  const { pending } = useOpenSession();
  const before = computed(() => {
    const ids = pending.value.map((request) => request.id);
    return ids.slice(0, Math.max(0, ids.indexOf(id()))).join(' ');
  });
  const ready = shallowRef(false);
  const canApprove = shallowRef(false);
  let drawnSince: number | undefined;
  let timer: ReturnType<typeof setInterval> | undefined;
  const seen = new WeakSet<Element>();

  function check() {
    const root: unknown = card()?.$el;
    const header = root instanceof HTMLElement ? root.querySelector('header') : null;
    if (!(root instanceof HTMLElement) || !header) return;
    const isDrawn = document.visibilityState === 'visible' && [...root.querySelectorAll(parts)].some(isInView);
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
  watch(before, restart);
  onBeforeUnmount(() => clearInterval(timer));
  return { ready, canApprove };
}
