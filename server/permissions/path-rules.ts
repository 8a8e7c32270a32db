/** Rule arguments that name paths: globs matched against the path as named and with its links resolved. */
import { isAbsolute, posix, sep } from 'node:path';
import { escapeGlob, pathGlob, unescapeGlob } from '#server/files/globs.ts';
import type { Matcher } from '#server/files/globs.ts';
import type { Runtime } from '#server/runtime/runtime.ts';

export interface PathPattern {
  /** `./` stripped, `~` expanded, joined to the working directory. */
  absolute: string;
  globs: Matcher[];
}

/** The directory that relative patterns are resolved against, and its machine. */
export interface PatternBase {
  cwd: string;
  runtime: Pick<Runtime, 'homeDirectory'>;
}

const toSlashes = (path: string) => (sep === '\\' ? path.replaceAll('\\', '/') : path);
const escapedPath = (path: string) => escapeGlob(toSlashes(path));

function absolutePattern(args: string, { cwd, runtime }: PatternBase): string {
  const stripped = args.replace(/^(\.\/)+/, '');
  if (stripped === '~') return escapedPath(runtime.homeDirectory());
  if (stripped.startsWith('~/')) return posix.join(escapedPath(runtime.homeDirectory()), stripped.slice(2));
  return isAbsolute(stripped) ? posix.normalize(stripped) : posix.join(escapedPath(cwd), stripped);
}

/** Compiles the argument of a rule for one working directory. */
export function compilePathPattern(args: string, place: PatternBase): PathPattern {
  const absolute = absolutePattern(args, place);
  return { absolute, globs: [absolute, ...(args.startsWith('**') ? [args] : [])].map(pathGlob) };
}

/** Resolves the links in the pattern's fixed part, for matching real paths. */
async function realPattern(pattern: string, runtime: Pick<Runtime, 'realpath'>): Promise<string> {
  const segments = pattern.split('/');
  const open = segments.findIndex((segment) => /[*?[{]/.test(segment.replace(/\\./gs, '')));
  const fixed = open === -1 ? segments : segments.slice(0, open);
  const real = escapedPath(await runtime.realpath(unescapeGlob(fixed.join('/')) || '/'));
  return open === -1 ? real : posix.join(real, ...segments.slice(open));
}

/**
 * Whether a path matches, tested as named and with its links resolved. `either` is for rules that refuse, which apply
 * when one form matches; `both` for rules that allow, so that a link cannot lead outside of the allowed paths.
 */
export async function pathFits(
  { absolute, globs }: PathPattern,
  target: { path: string; real: string },
  forms: 'either' | 'both',
  runtime: Pick<Runtime, 'realpath'>,
): Promise<boolean> {
  const path = toSlashes(target.path);
  const asNamed = globs.some((glob) => glob(path));
  if (asNamed === (forms === 'either')) return asNamed;
  const real = toSlashes(target.real);
  if (globs.some((glob) => glob(real))) return true;
  const resolved = await realPattern(absolute, runtime);
  return resolved !== absolute && pathGlob(resolved)(real);
}
