/** The file that the panel shows; anything on the page may choose it. */
import { shallowRef } from 'vue';
import { useOpenPanel } from '../../stores/open-panel.ts';

export const FILES_PANEL = 'files';

export interface ShownFile {
  sessionId: string;
  path: string;
  mode: 'text' | 'diff';
}

export const shownFile = shallowRef<ShownFile>();

/** Opens the panel, too. */
export function showFile(file: ShownFile): void {
  shownFile.value = file;
  useOpenPanel().value = FILES_PANEL;
}
