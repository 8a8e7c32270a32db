/** Takes the text of Markdown files into the build: `import text from './x.md?raw'`, as Vite does in tests. */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Plugin } from 'vite';
import { stringLiteral } from './threads.ts';

const SUFFIX = '.md?raw';

/** The plugin of the build and of the dev server. A change of the file is noticed. */
export function rawTexts(): Plugin {
  return {
    name: 'raw-texts',
    enforce: 'pre',
    resolveId(source, importer) {
      // Not `this.resolve`: Nitro's plugin for raw files would claim the path without the suffix.
      if (!source.endsWith(SUFFIX) || importer === undefined) return null;
      return resolve(dirname(importer), source);
    },
    async load(id) {
      if (!id.endsWith(SUFFIX)) return null;
      const path = id.slice(0, -'?raw'.length);
      this.addWatchFile(path);
      return `export default ${stringLiteral(await readFile(path, 'utf8'))};`;
    },
  };
}
