/** Answering an approval by keyboard. */
import { onBeforeUnmount, onMounted } from 'vue';

/** Codes of the keys that are down. */
const held = new Set<string>();
/** The event that is being handled is the first one since the key was released. */
let isPress = false;

window.addEventListener(
  'keydown',
  ({ code, repeat }) => {
    isPress = !repeat && !held.has(code);
    held.add(code);
  },
  true,
);
// While Cmd is down, a Mac reports no release of other keys; a window without the focus receives none at all.
window.addEventListener('keyup', ({ key, code }) => (key === 'Meta' ? held.clear() : held.delete(code)), true);
window.addEventListener('blur', () => held.clear());

const isMac = () => navigator.platform.startsWith('Mac');

const isTextField = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea'));

/**
 * Alt+Y and Alt+R, while `listens` is true. They work from everywhere, also while a prompt is written; a bare key or the
 * focus could approve a call that the person has not read. Each answer needs a press after the key has been released. On
 * a Mac the keys write a character in a text field, so they answer only from outside of one.
 */
export function useAnswerKeys(listens: () => boolean, keys: { approve(): void; reject(): void }): void {
  function onKeydown(event: KeyboardEvent) {
    if (!event.altKey || event.ctrlKey || event.metaKey || event.getModifierState('AltGraph')) return;
    if (isMac() && isTextField(event.target)) return;
    const answer = { KeyY: keys.approve, KeyR: keys.reject }[event.code];
    if (!answer || !listens()) return;
    event.preventDefault();
    if (isPress) answer();
  }

  onMounted(() => window.addEventListener('keydown', onKeydown));
  onBeforeUnmount(() => window.removeEventListener('keydown', onKeydown));
}
