/** Decides when a card that requests consent accepts an answer. */
import {
  computed,
  inject,
  onBeforeUnmount,
  onMounted,
  shallowRef,
  watch,
  type ComponentPublicInstance,
  type ShallowRef,
} from 'vue';
import { openSessionKey } from '../../stores/session.ts';

/** A card that has just appeared, or moved to where another one was, may receive an answer meant for that one. */
const DRAWN_MS = 500;
const CHECK_MS = 50;
/** Less is rounding. */
const MOVED_PX = 2;

export interface Readiness {
  /** The card has been drawn for 500 ms, possibly elsewhere: accepts a choice that is sent later. */
  drawn: ShallowRef<boolean>;
  /** The card has been drawn at this position for 500 ms: accepts keys and clicks. */
  ready: ShallowRef<boolean>;
  /** Everything is there; header, buttons and the end of each scrolling box have been in view: accepts consent. */
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
 * Observes the card of request `id` until it can be approved; starts over when the card moves or the cards before it
 * change. It is drawn while one of `parts` (a selector; default: header and buttons) is in view. A polled geometry is used
 * because a dialog over the card or a hidden tab counts as not drawn, too.
 */
export function useReadiness(
  card: () => ComponentPublicInstance | null,
  id: () => string,
  parts = 'header, .actions',
): Readiness {
  // A card in the list of sessions belongs to none that is open.
  const pending = inject(openSessionKey, undefined)?.pending;
  const before = computed(() => {
    const ids = pending?.value.map((request) => request.id) ?? [];
    return [...ids.slice(0, Math.max(0, ids.indexOf(id()))), id()].join(' ');
  });
  const drawn = shallowRef(false);
  const ready = shallowRef(false);
  const canApprove = shallowRef(false);
  let drawnSince: number | undefined;
  let position: Pick<DOMRect, 'left' | 'top' | 'bottom'> | undefined;
  let timer: ReturnType<typeof setInterval> | undefined;
  const seen = new WeakSet<Element>();

  function hasMoved(root: Element): boolean {
    const [was, is] = [position, root.getBoundingClientRect()];
    position = is;
    return (
      was !== undefined &&
      (['left', 'top', 'bottom'] as const).some((side) => Math.abs(is[side] - was[side]) > MOVED_PX)
    );
  }

  function check() {
    const root: unknown = card()?.$el;
    const header = root instanceof HTMLElement ? root.querySelector('header') : null;
    if (!(root instanceof HTMLElement) || !header || document.visibilityState !== 'visible') {
      if (!ready.value) drawnSince = undefined;
      return;
    }
    const isDrawn = [...root.querySelectorAll(parts)].some(isInView);
    const isFirst = position === undefined;
    const moved = hasMoved(root);
    if (moved) {
      ready.value = canApprove.value = false;
      drawnSince = undefined;
    }
    drawnSince = isDrawn ? (drawnSince ?? performance.now()) : undefined;
    // Parts count as seen once the body is there (it may be loaded late, or not at all, and moves the others) and the card
    // is where it was at the last check: it may be drawn before the conversation scrolls to it.
    const isStill = !isFirst && !moved;
    const isWhole = [...root.querySelectorAll('[data-required]')].every((body) => body.childElementCount > 0);
    const boxes = [...root.querySelectorAll('.what, .what *')].filter(isScrollBox);
    for (const box of boxes) if (isWhole && isStill && isDrawn && isAtEnd(box)) seen.add(box);
    const ends = [header, ...root.querySelectorAll('.actions')];
    for (const end of ends) if (isWhole && isStill && isInView(end)) seen.add(end);
    if (drawnSince !== undefined && performance.now() - drawnSince >= DRAWN_MS) drawn.value = ready.value = true;
    canApprove.value = ready.value && isWhole && [...ends, ...boxes].every((part) => seen.has(part));
  }

  function restart() {
    drawn.value = ready.value = canApprove.value = false;
    drawnSince = position = undefined;
  }

  onMounted(() => {
    restart();
    timer = setInterval(check, CHECK_MS);
  });
  watch(before, restart);
  onBeforeUnmount(() => clearInterval(timer));
  return { drawn, ready, canApprove };
}
