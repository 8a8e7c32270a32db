/** Reads the marks of a work tree: its status, and which of its submodules have changes in them. */
import { createMarks, type GitMarks } from './marks.ts';
import { readStatus } from './status.ts';
import { dirtySubmodules } from './submodules.ts';
import type { WorkTree } from './work-tree.ts';

/** Throws the errors of the work tree. */
export async function readMarks(tree: WorkTree): Promise<GitMarks> {
  const marks = createMarks();
  await readStatus(tree, { ignored: true, onEntry: marks.add });
  for (const path of await dirtySubmodules(tree, marks.known)) {
    marks.add({ path, status: 'modified' });
  }
  return marks.of;
}
