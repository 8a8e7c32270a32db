/** Answers an approval by keyboard. */
import { onBeforeUnmount, onMounted } from 'vue';
import { isPress, isTextField } from '../../components/press.ts';

const isMac = () => navigator.platform.startsWith('Mac');

/**
 * Alt+Y and Alt+R, while `listens` is true. They work from everywhere, also while a prompt is being written; a bare key
 * or the focus could approve a call that the person has not read. Each answer requires a press after the key has been
 * released. On a Mac the keys type a character in a text field, so they answer only from outside of one.
 */
export function useAnswerKeys(listens: () => boolean, keys: { approve(): void; reject(): void }): void {
  function onKeydown(event: KeyboardEvent) {
    if (!event.altKey || event.ctrlKey || event.metaKey || event.getModifierState('AltGraph')) return;
    if (isMac() && isTextField(event.target)) return;
    const answer = { KeyY: keys.approve, KeyR: keys.reject }[event.code];
    if (!answer || !listens()) return;
    event.preventDefault();
    if (isPress(event)) answer();
  }

  onMounted(() => window.addEventListener('keydown', onKeydown));
  onBeforeUnmount(() => window.removeEventListener('keydown', onKeydown));
}
