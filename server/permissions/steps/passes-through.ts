/** Tests whether a path contains a folder of a certain name. */
import { relative, sep } from 'node:path';
import type { FileAccess, PermissionContext } from '../decision.ts';

interface WorkingDirectory {
  path: string;
  /** Links resolved. */
  real: string;
}

export const workingDirectory = async ({ places, realCwd }: PermissionContext): Promise<WorkingDirectory> => ({
  path: places.cwd,
  real: await realCwd(),
});

/** Whether a segment of the path, relative to the working directory, has a name (in lower case) that matches. */
export const passesThrough = (
  { path, real }: FileAccess,
  cwd: WorkingDirectory,
  fits: (name: string) => boolean,
): boolean =>
  [...relative(cwd.path, path).split(sep), ...relative(cwd.real, real).split(sep)].some((segment) =>
    fits(segment.toLowerCase()),
  );
