/** The file that the panel displays; any part of the page may set it. */
import { shallowRef } from 'vue';
import { useOpenPanel } from '../../stores/open-panel.ts';

export const FILES_PANEL = 'files';

export interface ShownFile {
  sessionId: string;
  path: string;
  mode: 'text' | 'diff';
}

export const shownFile = shallowRef<ShownFile>();

/** Displays a file, and opens the panel. */
export function showFile(file: ShownFile): void {
  shownFile.value = file;
  useOpenPanel().value = FILES_PANEL;
}
