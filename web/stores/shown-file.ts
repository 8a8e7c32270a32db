/** The file that the panel of a session displays; any part of the page may set it. */
import { shallowReactive } from 'vue';
import type { Pane } from '../shell/pane.ts';

export const FILES_PANEL = 'files';

export interface ShownFile {
  sessionId: string;
  path: string;
  mode: 'text' | 'diff';
  /** The line to display, from 1. */
  line?: number;
}

const shown = shallowReactive(new Map<string, ShownFile>());

export const shownFile = (sessionId: string): ShownFile | undefined => shown.get(sessionId);
export const setShownFile = (file: ShownFile): void => void shown.set(file.sessionId, file);
export const closeFile = ({ sessionId }: ShownFile): void => void shown.delete(sessionId);

/** Displays a file, and opens the panel in the pane of its session. */
export function showFile(file: ShownFile, pane: Pick<Pane, 'show'>): void {
  setShownFile(file);
  pane.show(FILES_PANEL);
}
