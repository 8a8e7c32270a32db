/** Finds AGENTS.md files below the working directory, reported to the model on its first work in their directories. */
import { dirname, resolve } from 'node:path';
import { parse } from 'shell-quote';
import { directoriesDown, isInside } from '#server/files/paths.ts';
import type { Runtime } from '#server/runtime/runtime.ts';
import type { InstructionFiles } from '../prompt/instructions.ts';
import type { Touched } from '../contract/calls.ts';

/** How many words of a command line are checked as paths. */
const MAX_COMMAND_WORDS = 100;

/** Words of a command line; empty when it cannot be parsed. */
function wordsOf(line: string): string[] {
  try {
    return parse(line).filter((word): word is string => typeof word === 'string');
  } catch {
    // The parser does not support all shell syntax (`${x:-y}`): then only the working directory is searched.
    return [];
  }
}

/** Directories that a call touched: those of its files, the command's, and those of words that are existing paths. */
async function touchedDirectories(
  { accesses, command }: Touched,
  runtime: Pick<Runtime, 'stat'>,
): Promise<Set<string>> {
  const directories = new Set<string>();
  const unsure: string[] = [];
  for (const access of accesses) {
    if (access.kind !== 'file') continue;
    if (access.recursive) unsure.push(access.path);
    else directories.add(dirname(access.path));
  }
  if (command) {
    directories.add(command.cwd);
    const words = wordsOf(command.line).slice(0, MAX_COMMAND_WORDS);
    unsure.push(...words.map((word) => resolve(command.cwd, word)));
  }
  await Promise.all(
    unsure.map(async (path) => {
      const stats = await runtime.stat(path).catch(() => undefined);
      if (stats) directories.add(stats.isDirectory() ? path : dirname(path));
    }),
  );
  return directories;
}

/** Instruction files from the project root down to the touched directories, without those in `known`. */
export async function findNestedInstructions(
  touched: Touched,
  known: ReadonlySet<string>,
  { files, runtime }: { files: InstructionFiles; runtime: Pick<Runtime, 'stat'> },
): Promise<string[]> {
  const found = new Set<string>();
  const root = (await files.project(touched.cwd)).top ?? touched.cwd;
  for (const directory of await touchedDirectories(touched, runtime)) {
    if (!isInside(directory, root)) continue;
    for (const above of directoriesDown(root, directory)) {
      for (const path of await files.pathsIn(above, touched.cwd)) if (!known.has(path)) found.add(path);
    }
  }
  return [...found];
}
