/** Presses of keys: the first event after the release of a key, in contrast to repeated events. Answers require one. */

/** Codes of the keys that are down. */
const held = new Set<string>();
/** Whether the current event is the first one since the key was released. */
let isFirst = false;

window.addEventListener(
  'keydown',
  ({ code, repeat }) => {
    isFirst = !repeat && !held.has(code);
    held.add(code);
  },
  true,
);
// While Cmd is down, macOS reports no release of other keys; a window without the focus receives none at all.
window.addEventListener('keyup', ({ key, code }) => (key === 'Meta' ? held.clear() : held.delete(code)), true);
window.addEventListener('blur', () => held.clear());

/** Whether the current event is a press without Ctrl, Meta and AltGr. */
export const isPress = (event: KeyboardEvent): boolean =>
  isFirst && !event.ctrlKey && !event.metaKey && !event.getModifierState('AltGraph');

export const isTextField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('textarea, input:not([type=radio], [type=checkbox])'));

/** Whether the last key event was the first one since the release of its key. */
export const isFirstPress = (): boolean => isFirst;
