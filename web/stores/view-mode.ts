/** How much of the conversations is displayed; one value for the whole page, which the browser remembers. */
import { shallowRef, watch } from 'vue';
import { VIEW_MODES, type ViewMode } from '../state/turn-body.ts';

export const viewMode = shallowRef<ViewMode>('normal');

/** Reads the stored value, and stores each later one, until the current effect scope is disposed. */
export function rememberViewMode(storage: Pick<Storage, 'getItem' | 'setItem'>, key: string): void {
  const stored = storage.getItem(key);
  viewMode.value = VIEW_MODES.find((mode) => mode === stored) ?? 'normal';
  watch(viewMode, (mode) => storage.setItem(key, mode), { flush: 'sync' });
}

/** All, normal, summary, all … */
export function nextViewMode(): void {
  viewMode.value = VIEW_MODES[(VIEW_MODES.indexOf(viewMode.value) + 1) % VIEW_MODES.length] ?? 'normal';
}
