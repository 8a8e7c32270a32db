import { defineAsyncComponent } from 'vue';
import type { Feature } from '../feature.ts';
import FileFinder from './FileFinder.vue';
import { FILES_PANEL } from './shown-file.ts';

/** Loaded when its tab is first opened: most pages do not need it. */
const FilesPanel = defineAsyncComponent(() => import('./FilesPanel.vue'));

export const workspace: Feature = {
  panels: [{ id: FILES_PANEL, label: 'Files', component: FilesPanel }],
  overlay: FileFinder,
};
