/** Takes contents of files into the build, as modules. */
import { dirname, resolve } from 'node:path';
import type { Plugin } from 'vite';
import { stringLiteral } from './threads.ts';

export interface FileModules {
  name: string;
  /** Ends of the imports that are taken. */
  suffix: `${string}?${string}`;
  /** The text for a file; undefined if the module has no value. */
  read(path: string): Promise<string | undefined>;
}

/** A plugin for imports with a suffix; the default export is a text. A change of the file is noticed. */
export function fileModules({ name, suffix, read }: FileModules): Plugin {
  return {
    name,
    enforce: 'pre',
    resolveId(source, importer) {
      // Not `this.resolve`: Nitro's plugin for raw files would claim the path without the suffix.
      if (!source.endsWith(suffix) || importer === undefined) return null;
      return resolve(dirname(importer), source);
    },
    async load(id) {
      if (!id.endsWith(suffix)) return null;
      const path = id.slice(0, id.lastIndexOf('?'));
      const text = await read(path);
      if (text === undefined) return 'export default undefined;';
      this.addWatchFile(path);
      return `export default ${stringLiteral(text)};`;
    },
  };
}
