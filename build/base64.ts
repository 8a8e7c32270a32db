/** Takes the bytes of files into the build: `import data from './x.br?base64'`, undefined if there is no such file. */
import { readFile } from 'node:fs/promises';
import type { Plugin } from 'vite';
import { fileModules } from './file-modules.ts';

async function base64Of(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'base64');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The plugin of the build, of the dev server and of tests. */
export const base64Files = (): Plugin => fileModules({ name: 'base64-files', suffix: '?base64', read: base64Of });
