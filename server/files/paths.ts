/** Relations of absolute paths, compared as text. */
import { dirname, isAbsolute, relative, sep } from 'node:path';

/** A path argument that the policy rejects. */
export class PathError extends Error {
  override readonly name = 'PathError';
}

/** True if `path` is `root` or below it; both absolute, compared as text. */
export function isInside(path: string, root: string): boolean {
  const rest = relative(root, path);
  return rest !== '..' && !rest.startsWith(`..${sep}`) && !isAbsolute(rest);
}

/** The directories from `root` down to `directory`, which must be inside it. */
export function directoriesDown(root: string, directory: string): string[] {
  const chain: string[] = [];
  for (let current = directory; ; current = dirname(current)) {
    chain.unshift(current);
    if (current === root || dirname(current) === current) return chain;
  }
}

/** Relative to `cwd` if inside it, otherwise absolute. */
export const displayPath = (path: string, cwd: string): string => (isInside(path, cwd) ? relative(cwd, path) : path);

/** Converts `/c/x`, the notation of Git's shells on Windows, to `c:\x`; rejects `C:x`, which is relative to a drive. */
export function fromWindowsForm(input: string): string {
  if (/^[a-z]:(?![\\/])/i.test(input)) throw new PathError(`${input} is relative to a drive; give an absolute path.`);
  const drive = /^\/([a-z])(?=\/|$)/i.exec(input);
  return drive ? `${drive[1]}:\\${input.slice(3).replaceAll('/', '\\')}` : input;
}
