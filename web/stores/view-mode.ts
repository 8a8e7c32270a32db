/** How much of the conversations is displayed; one value for the whole page. */
import { shallowRef } from 'vue';
import { VIEW_MODES, type ViewMode } from '../state/turn-body.ts';

export const viewMode = shallowRef<ViewMode>('normal');

/** All, normal, summary, all … */
export function nextViewMode(): void {
  viewMode.value = VIEW_MODES[(VIEW_MODES.indexOf(viewMode.value) + 1) % VIEW_MODES.length] ?? 'normal';
}
