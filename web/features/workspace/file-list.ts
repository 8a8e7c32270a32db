/** The files of a session in the palette, found by parts of their paths. */
import type { FileHit } from '@service-code/client';
import type { PaletteItem, PaletteList } from '../feature.ts';
import { searchFiles } from './requests.ts';
import { showFile } from '../../stores/shown-file.ts';

export const FILE_MARK = '/';

export interface FileItem extends PaletteItem {
  hit: FileHit;
}

export const fileList: Omit<PaletteList, 'row'> = {
  mark: FILE_MARK,
  label: 'palette.files',
  unavailable: 'palette.noSession',
  async search(query, { workbench, pane }) {
    if (!pane) return undefined;
    const { id } = pane.session;
    const { items } = await searchFiles(workbench.client.rest, id, query);
    return items.map((hit): FileItem => ({
      key: hit.path,
      hit,
      ...(hit.kind === 'directory' && { query: `${hit.path}/` }),
      run: () => showFile({ sessionId: id, path: hit.path, mode: 'text' }, pane),
    }));
  },
};
