import { defineAsyncComponent } from 'vue';
import type { Feature } from '../feature.ts';
import { FILES_PANEL } from '../../stores/shown-file.ts';

const FileFinder = defineAsyncComponent(() => import('./FileFinder.vue'));

/** Loaded when its tab is first opened: most pages do not need it. */
const FilesPanel = defineAsyncComponent(() => import('./FilesPanel.vue'));

export const workspace: Feature = {
  panels: [{ id: FILES_PANEL, label: 'Files', component: FilesPanel }],
  overlay: FileFinder,
};
