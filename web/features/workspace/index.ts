import { defineAsyncComponent } from 'vue';
import { t } from '../../messages/messages.ts';
import type { Feature } from '../feature.ts';
import { FILES_PANEL } from '../../stores/shown-file.ts';
import { FILE_MARK, fileList } from './file-list.ts';
import FileRow from './FileRow.vue';

/** Loaded when its tab is first opened: most pages do not need it. */
const FilesPanel = defineAsyncComponent(() => import('./FilesPanel.vue'));

export const workspace: Feature = {
  panels: [{ id: FILES_PANEL, label: t('files.title'), icon: 'files', component: FilesPanel }],
  paletteLists: [{ ...fileList, row: FileRow }],
  commands: [
    {
      id: 'files.find',
      title: 'palette.findFile',
      icon: 'file',
      keys: 'Mod+P',
      when: ({ session }) => session !== undefined,
      run: ({ workbench }) => void (workbench.palette.value = { text: FILE_MARK }),
    },
  ],
};
