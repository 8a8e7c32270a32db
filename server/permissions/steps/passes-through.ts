/** Whether a path leads through a folder of a certain name. */
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

/** Whether a component of the path, relative to the working directory, has that name (in lower case). */
export const passesThrough = ({ path, real }: FileAccess, cwd: WorkingDirectory, name: string): boolean =>
  [...relative(cwd.path, path).split(sep), ...relative(cwd.real, real).split(sep)].some(
    (segment) => segment.toLowerCase() === name,
  );
