/** AGENTS.md files below the working directory, named to the model when it first works near them. */
import { dirname, resolve } from 'node:path';
import { parse } from 'shell-quote';
import { directoriesDown, isInside } from '#server/files/paths.ts';
import type { Runtime } from '#server/runtime/runtime.ts';
import type { Access } from '#server/tools/tool.ts';
import type { InstructionFiles } from '../prompt/instructions.ts';

/** Words of a command line that are looked up as paths. */
const MAX_COMMAND_WORDS = 100;

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

/** Instruction files between what was touched and its project root that `known` does not hold yet. */
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
