/** The row of a virtualized list that a search has found, or that a move has led to. */
import { onBeforeUnmount, shallowRef, type Ref } from 'vue';

/** A row that was in view for so many frames has its final position. */
const STEADY_FRAMES = 3;

export interface FoundRowOptions {
  scroller: Readonly<Ref<HTMLElement | null>>;
  rows: () => readonly { key: string }[];
  /** Scrolls to the row of an index, which may need several frames. */
  scrollTo(index: number): void;
  /** Called when the row has its final position. */
  onSettled(scroller: HTMLElement): void;
}

/** Whether the start of a row is visible. */
function isInView(row: Element, scroller: Element): boolean {
  const { top } = row.getBoundingClientRect();
  const view = scroller.getBoundingClientRect();
  return top >= view.top - 1 && top < view.bottom;
}

/**
 * Scrolls to a row until it stays in view, and moves the focus to it. The list marks the row of `key` with the attribute
 * `data-found`.
 */
export function useFoundRow({ scroller, rows, scrollTo, onSettled }: FoundRowOptions) {
  const key = shallowRef<string>();
  /** Number of consecutive frames in which it was in view. */
  let steadyFrames = 0;
  /** The frame that checks it next. */
  let frame = 0;
  let mayFocus = false;
  /** Whether it is the row that is read: the user has not moved elsewhere. */
  let isRead = false;

  const indexOf = () => rows().findIndex((row) => row.key === key.value);

  /** Repeated until the row stays in view: rows that arrive or are measured meanwhile move it. */
  function seek() {
    const element = scroller.value;
    const index = indexOf();
    if (!element || index === -1) return;
    const row = element.querySelector('[data-found]');
    steadyFrames = row && isInView(row, element) ? steadyFrames + 1 : 0;
    if (row instanceof HTMLElement && steadyFrames === STEADY_FRAMES) {
      if (mayFocus) row.focus({ preventScroll: true });
      mayFocus = false;
      return onSettled(element);
    }
    if (steadyFrames === 0) scrollTo(index);
    frame = requestAnimationFrame(seek);
  }

  function startSeeking() {
    steadyFrames = 0;
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(seek);
  }

  /** Whether the row is among the rows, but not in view. */
  function hasLeft(element: HTMLElement): boolean {
    const row = element.querySelector('[data-found]');
    return row ? !isInView(row, element) : indexOf() !== -1;
  }

  onBeforeUnmount(() => cancelAnimationFrame(frame));

  return {
    key,
    /** Index of the row, or -1 if the user has moved elsewhere. */
    indexRead: () => (isRead ? indexOf() : -1),
    /** Whether the drawn rows are not yet those that the user will see. */
    isSought: () => isRead && steadyFrames < STEADY_FRAMES,
    /** Scrolls to a row and moves the focus to it: `isAgain` only if the focus was in a row that was removed. */
    show(next: string, isAgain: boolean) {
      const { activeElement } = document;
      // A removed row has left the focus to the list.
      mayFocus ||= !isAgain || activeElement === document.body || activeElement === scroller.value;
      key.value = next;
      isRead = true;
      // The row that has the focus may be removed before the other one is drawn.
      if (mayFocus && scroller.value?.contains(activeElement)) scroller.value.focus({ preventScroll: true });
      startSeeking();
    },
    /** Other rows may have moved it. */
    seekAgain() {
      if (isRead) startSeeking();
    },
    /** The user may have moved by other means than wheel, pointer and keys. */
    onScroll(element: HTMLElement) {
      if (isRead && steadyFrames >= STEADY_FRAMES && hasLeft(element)) isRead = false;
    },
    /** The user moves elsewhere. */
    leave() {
      isRead = false;
      cancelAnimationFrame(frame);
    },
  };
}
