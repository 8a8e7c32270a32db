/** AGENTS.md files below the working directory, named to the model when it first works near them (engine.md §14.2). */
import { stat } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import { parse } from 'shell-quote';
import type { Access } from '#server/tools/tool.ts';
import { directoriesDown, gitRoot, instructionCandidates } from '../prompt/instructions.ts';

/** Words of a command line that are looked up as paths. */
const MAX_COMMAND_WORDS = 100;

const inside = (root: string, path: string) => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);

/** What a call worked on. */
export interface Touched {
  accesses: readonly Access[];
  /** A command line and the directory it ran in. */
  command?: { line: string; cwd: string } | undefined;
  cwd: string;
}

/** Words of a command line; none when it cannot be taken apart. */
function wordsOf(line: string): string[] {
  try {
    return parse(line).filter((word): word is string => typeof word === 'string');
  } catch {
    // Shell syntax beyond the parser (`${x:-y}`): only its directory counts.
    return [];
  }
}

/** Directories a call touched: those of its files, or of the words of a command line that name existing paths. */
async function touchedDirectories({ accesses, command }: Touched): Promise<Set<string>> {
  const paths = accesses.flatMap((access) => (access.kind === 'file' ? [access.path] : []));
  if (command) {
    const words = wordsOf(command.line).slice(0, MAX_COMMAND_WORDS);
    paths.push(command.cwd, ...words.map((word) => resolve(command.cwd, word)));
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
export async function findNestedInstructions(touched: Touched, known: ReadonlySet<string>): Promise<string[]> {
  const found = new Set<string>();
  const root = (await gitRoot(touched.cwd)) ?? touched.cwd;
  for (const directory of await touchedDirectories(touched)) {
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
