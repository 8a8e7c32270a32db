/**
 * On a phone Back closes the innermost overlay: dialogs, sheets, menus and popovers have an entry in the browser's
 * history while they are open. The state of an entry has their number as `overlays`.
 */
import { onBeforeUnmount, watch, type Ref } from 'vue';

const PHONE = '(max-width: 720px)';

/** Close the open overlays; the innermost is the last. */
const open: (() => void)[] = [];
let isFollowing = false;
/** Whether the page itself has left entries, and the browser has not arrived yet. */
let isLeaving = false;
let waiting: (() => void)[] = [];

const stateOf = (): object => {
  const state: unknown = history.state;
  return typeof state === 'object' && state !== null ? state : {};
};

/** The overlays of the current entry of the history. */
export function overlaysInHistory(): number {
  const count: unknown = Reflect.get(stateOf(), 'overlays');
  return typeof count === 'number' ? count : 0;
}

function leave(entries: number) {
  isLeaving = true;
  history.go(-entries);
}

/** Adds the entries of new overlays, and leaves those of closed ones. */
function reconcile() {
  if (isLeaving) return;
  for (let count = overlaysInHistory() + 1; count <= open.length; count += 1) {
    history.pushState({ ...stateOf(), overlays: count }, '');
  }
  if (overlaysInHistory() > open.length) leave(overlaysInHistory() - open.length);
}

function onMoved() {
  const count = overlaysInHistory();
  if (isLeaving) {
    isLeaving = false;
    for (const resolve of waiting.splice(0)) resolve();
    reconcile();
  } else if (count > open.length) leave(count - open.length);
  else for (const close of open.splice(count).toReversed()) close();
}

/** Follows steps in the history, and leaves an entry whose overlay was lost by a reload. Repeated calls do nothing. */
export function followOverlayHistory(): void {
  if (isFollowing) return;
  isFollowing = true;
  window.addEventListener('popstate', onMoved);
  reconcile();
}

/** Settles when no entry is being left: an entry that is added meanwhile would be left instead. */
export const historySettled = (): Promise<void> =>
  isLeaving ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve();

/** Makes Back close an overlay while it is open, on a phone. `canClose`: whether a person may close it. */
export function useBackCloses(isOpen: Ref<boolean>, canClose: () => boolean = () => true): void {
  const close = () => void (isOpen.value = false);

  // In a task of its own: a dialog that a menu opens takes over the entry of the menu.
  function set(isListed: boolean) {
    const at = open.indexOf(close);
    if (isListed === (at !== -1)) return;
    if (isListed) open.push(close);
    else open.splice(at, 1);
    followOverlayHistory();
    setTimeout(reconcile);
  }

  watch(isOpen, (value) => set(value && canClose() && window.matchMedia(PHONE).matches), { immediate: true });
  onBeforeUnmount(() => set(false));
}
