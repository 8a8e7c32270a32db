import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '#server/errors/errno.ts';

/**
 * Lists the regular files below a directory as relative paths with `/` as separator, in code-unit order. Symbolic links
 * are neither followed nor listed; files removed meanwhile are omitted.
 */
export async function listFiles(directory: string): Promise<string[]> {
  const found: string[] = [];
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    try {
      for await (const entry of await opendir(join(directory, folder))) {
        const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
        if (entry.isDirectory()) folders.push(path);
        else if (entry.isFile()) found.push(path);
      }
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
  return found.sort();
}
