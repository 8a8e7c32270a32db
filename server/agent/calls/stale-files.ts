/** The stale-file guard: an existing file is changed only in the state that the agent last saw. */
import type { Runtime } from '#server/runtime/runtime.ts';
import type { PreparedCall } from '#server/tools/tool.ts';

/**
 * `known` maps absolute paths to the mtime (ms) of the agent's last read or write. Returns the error text if the file
 * exists and was never read or has changed since; undefined if it may be changed.
 */
export async function checkFresh(
  known: ReadonlyMap<string, number>,
  path: string,
  { stat }: Pick<Runtime, 'stat'>,
): Promise<string | undefined> {
  const stats = await stat(path).catch(() => undefined);
  if (!stats?.isFile()) return undefined;
  const seen = known.get(path);
  if (seen === undefined) return `${path} has not been read yet. Read it before changing it.`;
  if (seen !== stats.mtimeMs) return `${path} has changed since it was last read. Read it again before changing it.`;
  return undefined;
}

const written = ({ accesses }: PreparedCall) =>
  accesses.flatMap((access) => (access.kind === 'file' && access.mode !== 'read' ? [access.path] : []));

/** Returns why the call may not run. A Read of the file among the `earlier` calls of the response is sufficient. */
export async function staleFile(
  prepared: PreparedCall,
  earlier: readonly PreparedCall[],
  known: ReadonlyMap<string, number>,
  runtime: Pick<Runtime, 'stat'>,
): Promise<string | undefined> {
  for (const path of written(prepared)) {
    // A search (recursive) reads only parts of a file.
    const readBefore = earlier.some(({ accesses }) =>
      accesses.some((access) => access.kind === 'file' && !access.recursive && access.path === path),
    );
    const problem = readBefore ? undefined : await checkFresh(known, path, runtime);
    if (problem) return problem;
  }
  return undefined;
}

/** Repeats the check when the call starts: an approval may have been pending for hours. */
export async function changedSinceRead(
  prepared: PreparedCall,
  known: ReadonlyMap<string, number>,
  runtime: Pick<Runtime, 'stat'>,
): Promise<string | undefined> {
  const problems = await Promise.all(written(prepared).map((path) => checkFresh(known, path, runtime)));
  return problems.find((problem) => problem !== undefined);
}
