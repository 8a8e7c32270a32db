/** Files that tests write and look for. */
import { access, mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Writes a file and creates its missing parents; returns its path. */
export async function putFile(path: string, text: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}

/** Whether the path leads to a file or folder. */
export const fileExists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
