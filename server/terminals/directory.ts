/** The directory that a terminal starts in. */
import { resolve } from 'node:path';
import { ServiceError } from '#server/errors/service-error.ts';
import { directoryFault } from '#server/files/file-kind.ts';
import { isInside } from '#server/files/paths.ts';
import { isInsideAny } from '#server/runtime/path-policy.ts';
import type { Runtime } from '#server/runtime/runtime.ts';

const outside = (path: string) => new ServiceError('fs.path_escapes_session', `path ${path} is outside workspace`);
const missing = (path: string) => new ServiceError('fs.path_not_found', `path not found: ${path}`);

/**
 * Resolves a path relative to the first root. It must be inside a root as written and with links resolved; both are
 * checked before its type, so that outside paths are not disclosed. Throws `fs.path_escapes_session`,
 * `fs.path_not_found`.
 */
export async function startDirectory(
  path: string,
  roots: readonly [string, ...string[]],
  runtime: Pick<Runtime, 'realpath' | 'stat'>,
): Promise<string> {
  const directory = resolve(roots[0], path);
  if (!roots.some((root) => isInside(directory, root))) throw outside(path);
  const real = await runtime.realpath(directory).catch(() => undefined);
  if (real === undefined) throw missing(path);
  if (!(await isInsideAny(real, roots, runtime))) throw outside(path);
  if (await directoryFault(directory, runtime.stat)) throw missing(path);
  return directory;
}
