/** Answering an approval by keyboard. */
import { onBeforeUnmount, onMounted } from 'vue';

/**
 * Alt+Y and Alt+R, while the card listens. They work from everywhere, also while writing a prompt; a bare key or the
 * focus could approve what nobody has read.
 */
export function useAnswerKeys(listens: () => boolean, keys: { approve(): void; reject(): void }): void {
  function onKeydown(event: KeyboardEvent) {
    if (!event.altKey || !listens()) return;
    if (event.code === 'KeyY') keys.approve();
    else if (event.code === 'KeyR') keys.reject();
    else return;
    event.preventDefault();
  }

  onMounted(() => window.addEventListener('keydown', onKeydown));
  onBeforeUnmount(() => window.removeEventListener('keydown', onKeydown));
}
