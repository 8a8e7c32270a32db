/** The stale-file guard: an existing file is changed only as the agent last saw it. */
import type { Runtime } from '#server/runtime/runtime.ts';
import type { PreparedCall } from '#server/tools/tool.ts';

/**
 * `known` maps absolute paths to the mtime (ms) at the agent's last read or write. Returns the error text when the file
 * exists and was never seen or has changed since; undefined when Edit or Write may go on.
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

/** Why the call may not run; a Read of the same file among the `earlier` calls of the response counts. */
export async function staleFile(
  prepared: PreparedCall,
  earlier: readonly PreparedCall[],
  known: ReadonlyMap<string, number>,
  runtime: Pick<Runtime, 'stat'>,
): Promise<string | undefined> {
  for (const path of written(prepared)) {
    // A search (recursive) shows only parts of a file.
    const readBefore = earlier.some(({ accesses }) =>
      accesses.some((access) => access.kind === 'file' && !access.recursive && access.path === path),
    );
    const problem = readBefore ? undefined : await checkFresh(known, path, runtime);
    if (problem) return problem;
  }
  return undefined;
}

/** Looked at again when the call begins: an approval may have waited for hours. */
export async function changedSinceRead(
  prepared: PreparedCall,
  known: ReadonlyMap<string, number>,
  runtime: Pick<Runtime, 'stat'>,
): Promise<string | undefined> {
  const problems = await Promise.all(written(prepared).map((path) => checkFresh(known, path, runtime)));
  return problems.find((problem) => problem !== undefined);
}
