/** Paths of tools that read or write the file itself: what holds secrets is refused before anything is asked. */
import { PathError, resolveTarget } from '#server/files/paths.ts';
import type { Reach, Target } from '#server/files/paths.ts';
import type { ToolEnvironment } from '#server/tools/tool.ts';
import { isSensitivePath, sensitiveText } from './sensitive-files.ts';
import { findServerFiles } from './server-files.ts';

/** As `resolveTarget`; throws `PathError` for sensitive files and the server's own secrets too. */
export async function resolveFile(
  input: string,
  environment: Reach & Pick<ToolEnvironment, 'home' | 'sessionDir' | 'ancestorDirs'>,
): Promise<Target> {
  const target = await resolveTarget(input, environment);
  const { isSecret } = await findServerFiles(environment);
  if ([target.path, target.real].some((path) => isSensitivePath(path) || isSecret(path))) {
    throw new PathError(sensitiveText(input));
  }
  return target;
}
