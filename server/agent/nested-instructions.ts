/** AGENTS.md files below the working directory, named to the model when it first works near them (engine.md §14.2). */
import { stat } from 'node:fs/promises';
import { dirname, isAbsolute, resolve, sep } from 'node:path';
import { parse } from 'shell-quote';
import type { Access } from '../tools/types.ts';
import { directoriesDown, gitRoot, instructionCandidates } from './instructions.ts';

const inside = (root: string, path: string) => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);

/** Directories a call touched: those of its files, or of the words of a command line that name existing paths. */
async function touchedDirectories(accesses: Access[], command: string | undefined, cwd: string): Promise<Set<string>> {
  const paths = accesses.flatMap((access) => (access.kind === 'file' ? [access.path] : []));
  if (command !== undefined) {
    const words = parse(command).filter((word): word is string => typeof word === 'string');
    paths.push(
      ...words.filter((word) => word.includes('/')).map((word) => (isAbsolute(word) ? word : resolve(cwd, word))),
    );
  }
  const directories = await Promise.all(
    paths.map(async (path) => {
      const info = await stat(path).catch(() => undefined);
      if (!info) return [];
      return [info.isDirectory() ? path : dirname(path)];
    }),
  );
  return new Set(directories.flat());
}

async function isFile(path: string): Promise<boolean> {
  const info = await stat(path).catch(() => undefined);
  return info?.isFile() === true;
}

/** Instruction files between what was touched and its project root that `known` does not hold yet. */
export async function findNestedInstructions(
  touched: { accesses: Access[]; command?: string | undefined; cwd: string },
  known: ReadonlySet<string>,
): Promise<string[]> {
  const found = new Set<string>();
  const root = (await gitRoot(touched.cwd)) ?? touched.cwd;
  for (const directory of await touchedDirectories(touched.accesses, touched.command, touched.cwd)) {
    if (!inside(root, directory)) continue;
    for (const candidates of directoriesDown(root, directory).flatMap(instructionCandidates)) {
      for (const path of candidates) {
        if (!(await isFile(path))) continue;
        if (!known.has(path)) found.add(path);
        break;
      }
    }
  }
  return [...found];
}
