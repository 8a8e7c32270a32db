import { defineAsyncComponent } from 'vue';
import type { Feature } from '../feature.ts';
import FileFinder from './FileFinder.vue';
import { FILES_PANEL } from './shown-file.ts';

/** Loaded when somebody looks: a page that only talks does without. */
const FilesPanel = defineAsyncComponent(() => import('./FilesPanel.vue'));

export const workspace: Feature = {
  panels: [{ id: FILES_PANEL, label: 'Files', component: FilesPanel }],
  overlay: FileFinder,
};
