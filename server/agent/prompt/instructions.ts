/** AGENTS.md files that apply to a working directory (engine.md §14.2). */
import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { errorMessage } from '#server/errors/service-error.ts';
import type { SessionWarning } from '#schema/session.ts';

/** Instructions above this many bytes are still used whole, with a warning. */
const WARN_BYTES = 32_768;

export interface Instructions {
  /** `<!-- From: path -->` blocks, empty when there are none. */
  text: string;
  paths: string[];
  warnings: SessionWarning[];
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Root of the git work tree that holds `dir`, if any. */
export async function gitRoot(dir: string): Promise<string | undefined> {
  for (let current = dir; ; current = dirname(current)) {
    if (await exists(join(current, '.git'))) return current;
    if (dirname(current) === current) return undefined;
  }
}

/** Directories from the work-tree root (or `cwd` when there is none) down to `dir`. */
export function directoriesDown(root: string, dir: string): string[] {
  const chain: string[] = [];
  for (let current = dir; ; current = dirname(current)) {
    chain.unshift(current);
    if (current === root || dirname(current) === current) return chain;
  }
}

/** File names of one directory's instructions; of `AGENTS.md` and `agents.md` only the first that exists counts. */
export function instructionCandidates(dir: string): string[][] {
  return [[join(dir, '.service-code', 'AGENTS.md')], [join(dir, 'AGENTS.md'), join(dir, 'agents.md')]];
}

type Reading = { path: string; text: string } | { path: string; error: string } | undefined;

async function readFirst(paths: string[]): Promise<Reading> {
  for (const path of paths) {
    const info = await stat(path).catch(() => undefined);
    if (!info?.isFile()) continue;
    try {
      return { path, text: await readFile(path, 'utf8') };
    } catch (error) {
      return { path, error: errorMessage(error) };
    }
  }
  return undefined;
}

/** Reads every instruction file that applies, in order of generality; nothing is cut. */
export async function readInstructions(home: string, cwd: string): Promise<Instructions> {
  const osHome = homedir();
  const groups = [
    [join(home, 'AGENTS.md')],
    [join(osHome, '.agents', 'AGENTS.md'), join(osHome, '.agents', 'agents.md')],
    ...directoriesDown((await gitRoot(cwd)) ?? cwd, cwd).flatMap(instructionCandidates),
  ];
  const found = await Promise.all(groups.map(readFirst));
  const blocks = new Map<string, string>();
  const problems: string[] = [];
  for (const reading of found) {
    if (!reading) continue;
    if ('error' in reading) problems.push(`${reading.path} could not be read: ${reading.error}`);
    else if (reading.text.trim() !== '') blocks.set(reading.path, reading.text);
  }
  const bytes = [...blocks.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > WARN_BYTES) {
    problems.unshift(
      `The agent instruction files hold ${bytes} bytes, more than the advised ${WARN_BYTES}: ${[...blocks.keys()].join(', ')}.`,
    );
  }
  return {
    text: [...blocks].map(([path, text]) => `<!-- From: ${path} -->\n${text}`).join('\n\n'),
    paths: [...blocks.keys()],
    warnings: problems.length
      ? [{ code: 'agents-md-oversized', message: problems.join(' '), severity: 'warning' }]
      : [],
  };
}
