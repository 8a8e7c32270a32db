/** Two-level listing of a directory for the system prompt. */
import { join } from 'node:path';
import type { Runtime } from '#server/runtime/runtime.ts';

type Files = Pick<Runtime, 'list'>;

const ROOT_ENTRIES = 30;
const CHILD_ENTRIES = 10;

interface Entry {
  name: string;
  directory: boolean;
}

async function entriesOf(dir: string, { list }: Files): Promise<Entry[]> {
  const entries = await list(dir).catch(() => []);
  return entries
    .map((entry) => ({ name: entry.name, directory: entry.isDirectory() }))
    .sort((a, b) => Number(b.directory) - Number(a.directory) || (a.name < b.name ? -1 : 1));
}

const more = (total: number, shown: number, indent: string) =>
  total > shown ? [`${indent}... ${total - shown} more`] : [];

/** Lists directories first, then files; hidden directories are not expanded; a line counts the omitted entries. */
export async function listDirectory(root: string, files: Files): Promise<string> {
  const entries = await entriesOf(root, files);
  const shown = entries.slice(0, ROOT_ENTRIES);
  const blocks = await Promise.all(
    shown.map(async (entry) => {
      if (!entry.directory) return [entry.name];
      if (entry.name.startsWith('.')) return [`${entry.name}/ ...`];
      const children = await entriesOf(join(root, entry.name), files);
      return [
        `${entry.name}/`,
        ...children.slice(0, CHILD_ENTRIES).map((child) => `  ${child.name}${child.directory ? '/' : ''}`),
        ...more(children.length, CHILD_ENTRIES, '  '),
      ];
    }),
  );
  return [...blocks.flat(), ...more(entries.length, ROOT_ENTRIES, '')].join('\n');
}
