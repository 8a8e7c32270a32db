/** Takes the text of Markdown files into the build: `import text from './x.md?raw'`, as Vite does in tests. */
import { readFile } from 'node:fs/promises';
import type { Plugin } from 'vite';
import { fileModules } from './file-modules.ts';

/** The plugin of the build and of the dev server. */
export const rawTexts = (): Plugin =>
  fileModules({ name: 'raw-texts', suffix: '.md?raw', read: (path) => readFile(path, 'utf8') });
