/** Resolves paths of tools that read or write files: files with secrets are refused before an approval is requested. */
import { PathError } from '#server/files/paths.ts';
import { resolveTarget } from '#server/runtime/path-policy.ts';
import type { Reach, Target } from '#server/runtime/path-policy.ts';
import type { ToolEnvironment } from '#server/tools/tool.ts';
import { isSensitivePath, sensitiveText } from './sensitive-files.ts';
import { findServerFiles } from './server-files.ts';

/** Like `resolveTarget`; also throws `PathError` for sensitive files and the server's secrets. */
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
