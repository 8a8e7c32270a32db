import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from './errno.ts';

/**
 * The regular files below a directory, by their paths relative to it with `/` between the names, in code-unit order. No
 * link is followed or listed; what vanishes meanwhile is left out.
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
