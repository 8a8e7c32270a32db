/** Reading the file that a call was admitted for. */
import { errorMessage } from '#server/errors/service-error.ts';
import { errorCode } from '#server/files/errno.ts';
import { movedSince, type Target } from '#server/files/paths.ts';
import type { OpenFile } from '#server/runtime/runtime.ts';
import { failed, type RunContext, type ToolResult } from './tool.ts';

/**
 * Opens the target unless it has become another file since, and closes it behind `read`. What hinders is told by `given`,
 * the path that the model named.
 */
export async function readTarget(
  given: string,
  target: Target,
  { runtime, signal }: Pick<RunContext, 'runtime' | 'signal'>,
  read: (file: OpenFile) => Promise<ToolResult>,
): Promise<ToolResult> {
  const moved = await movedSince(target, runtime);
  if (moved) return failed(moved);
  try {
    const file = await runtime.openFile(target.path);
    try {
      return await read(file);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (signal.aborted) return failed('Interrupted by user');
    if (errorCode(error) === 'ENOENT') return failed(`${given} does not exist.`);
    return failed(`${given} cannot be read: ${errorMessage(error)}`);
  }
}
