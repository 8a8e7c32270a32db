import { nextTick } from 'vue';
import { historySettled } from '../ui/back-closes.ts';

/**
 * Runs an action after a menu or dialog has closed: these return the focus to where it was in a task that follows their
 * removal, and the action may move it.
 */
export async function afterOverlay(action: () => void): Promise<void> {
  await nextTick();
  setTimeout(() => void historySettled().then(action));
}
