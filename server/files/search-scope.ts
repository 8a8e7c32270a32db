/** What searches have in common: where they search, and the order by age. */
import { basename, dirname, join } from 'node:path';
import type { Runtime } from '#server/runtime/runtime.ts';
import { regularFileProblem } from './file-kind.ts';
import type { Target } from './paths.ts';

const STAT_BATCH = 64;
/** How many files are asked for their age; of more than these the newest ones cannot be told. */
export const MAX_DATED_FILES = 20_000;

export interface SearchScope {
  /** ripgrep's working directory. */
  directory: string;
  /** What it is told to search in there. */
  argument: string;
}

/**
 * Returns where ripgrep searches a target. A single file is searched from its directory, so that its name is never an
 * option. Undefined when nothing exists at the path; a text for the model when it is a pipe, a device or a socket, which
 * ripgrep would read without an end.
 */
export async function searchScope(
  target: Target,
  { stat }: Pick<Runtime, 'stat'>,
): Promise<SearchScope | string | undefined> {
  const stats = await stat(target.path).catch(() => undefined);
  if (!stats) return undefined;
  if (stats.isDirectory()) return { directory: target.path, argument: './' };
  return (
    regularFileProblem(target.path, stats) ?? {
      directory: dirname(target.path),
      argument: `./${basename(target.path)}`,
    }
  );
}

const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

export const inPathOrder = (names: readonly string[]) => [...names].sort(byText);

export interface AgeOrder {
  /** Files that have vanished are left out. */
  names: string[];
  /** How many at the end were not asked for their age. */
  undated: number;
}

/** Newest first in steps of `stepMs`, equal ones by path. Rejects with the signal's reason. */
export async function newestFirst(
  directory: string,
  names: readonly string[],
  options: { runtime: Pick<Runtime, 'stat'>; stepMs: number; signal: AbortSignal; limit?: number },
): Promise<AgeOrder> {
  const { runtime, stepMs, signal, limit = MAX_DATED_FILES } = options;
  const dated: { name: string; step: number }[] = [];
  const end = Math.min(names.length, limit);
  for (let start = 0; start < end; start += STAT_BATCH) {
    signal.throwIfAborted();
    const batch = names.slice(start, Math.min(end, start + STAT_BATCH));
    const stats = await Promise.all(batch.map((name) => runtime.stat(join(directory, name)).catch(() => undefined)));
    for (const [index, name] of batch.entries()) {
      const found = stats[index];
      if (found) dated.push({ name, step: Math.floor(found.mtimeMs / stepMs) });
    }
  }
  const sorted = dated.sort((a, b) => b.step - a.step || byText(a.name, b.name)).map(({ name }) => name);
  return { names: [...sorted, ...names.slice(end)], undated: names.length - end };
}
