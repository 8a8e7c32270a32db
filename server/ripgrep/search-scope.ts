/** Helpers shared by searches: the scope of a search and sorting by age. */
import { basename, dirname, join } from 'node:path';
import type { Runtime } from '#server/runtime/runtime.ts';
import { regularFileProblem } from '#server/files/file-kind.ts';
import type { Target } from '#server/runtime/path-policy.ts';

const STAT_BATCH = 64;
/** Limit of files whose age is read; beyond it the newest files cannot be determined. */
export const MAX_DATED_FILES = 20_000;

export interface SearchScope {
  /** ripgrep's working directory. */
  directory: string;
  /** Path argument for ripgrep, relative to `directory`. */
  argument: string;
}

/**
 * Returns where ripgrep searches a target. A single file is searched from its directory, so that its name is never
 * parsed as an option. Undefined if the path does not exist; a text for the model if it is a pipe, a device or a
 * socket, which ripgrep would read endlessly.
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
  /** Excludes files that were removed meanwhile. */
  names: string[];
  /** Number of names at the end whose age was not read. */
  undated: number;
}

/** Sorts newest first at a resolution of `stepMs`, ties by path. Rejects with the signal's reason. */
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
