/** The stale-file guard's check: an existing file is changed only as the agent last saw it. */
import type { Runtime } from '#server/runtime/runtime.ts';

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
