/** Takes the bytes of files into the build: `import data from './x.br?base64'`, undefined if there is no such file. */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Plugin } from 'vite';
import { stringLiteral } from './threads.ts';

const SUFFIX = '?base64';

/** The plugin of the build, of the dev server and of tests. A change of the file is noticed. */
export function base64Files(): Plugin {
  return {
    name: 'base64-files',
    enforce: 'pre',
    resolveId(source, importer) {
      if (!source.endsWith(SUFFIX) || importer === undefined) return null;
      return resolve(dirname(importer), source);
    },
    async load(id) {
      if (!id.endsWith(SUFFIX)) return null;
      const path = id.slice(0, -SUFFIX.length);
      const bytes = await readFile(path).catch((error: unknown) => {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
        throw error;
      });
      if (!bytes) return 'export default undefined;';
      this.addWatchFile(path);
      return `export default ${stringLiteral(bytes.toString('base64'))};`;
    },
  };
}
