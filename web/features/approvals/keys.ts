/** Answering an approval by keyboard. */
import { onBeforeUnmount, onMounted } from 'vue';

const isMac = () => navigator.platform.startsWith('Mac');

const isTextField = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea'));

/**
 * Alt+Y and Alt+R, while `listens` is true. They work from everywhere, also while a prompt is written; a bare key or the
 * focus could approve a call that the person has not read. Repeated events of a held key are ignored: each card needs a
 * press. On a Mac the keys write a character in a text field, so they answer only from outside of one.
 */
export function useAnswerKeys(listens: () => boolean, keys: { approve(): void; reject(): void }): void {
  function onKeydown(event: KeyboardEvent) {
    if (!event.altKey || event.ctrlKey || event.metaKey || event.getModifierState('AltGraph')) return;
    if (isMac() && isTextField(event.target)) return;
    const answer = { KeyY: keys.approve, KeyR: keys.reject }[event.code];
    if (!answer || !listens()) return;
    event.preventDefault();
    if (!event.repeat) answer();
  }

  onMounted(() => window.addEventListener('keydown', onKeydown));
  onBeforeUnmount(() => window.removeEventListener('keydown', onKeydown));
}
