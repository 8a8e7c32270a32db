/** Opens the file that a call was admitted for. */
import { errorMessage } from '#server/errors/service-error.ts';
import { errorCode } from '#server/errors/errno.ts';
import { movedSince, type Target } from '#server/runtime/path-policy.ts';
import { startOf } from '#server/runtime/read-start.ts';
import { holdsPrivateKey, PRIVATE_KEY_BYTES, sensitiveText } from '#server/permissions/sensitive-files.ts';
import type { OpenFile } from '#server/runtime/runtime.ts';
import { failed, type RunContext, type ToolResult } from '#server/tools/tool.ts';

/** The file with its first bytes, which were already read, put back. */
function withStart(file: OpenFile, start: Uint8Array): OpenFile {
  let left = start;
  return {
    stats: file.stats,
    async read(maxBytes) {
      const first = left.subarray(0, maxBytes);
      left = left.subarray(first.length);
      if (first.length === maxBytes) return first;
      const rest = await file.read(maxBytes - first.length);
      return first.length === 0 ? rest : Buffer.concat([first, rest]);
    },
    close: () => file.close(),
  };
}

/**
 * Opens the target and closes it after `read`. Refuses a target that has become another file since, and a file that
 * begins with a private key. Messages name the file by `given`, the path from the model.
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
      const start = file.stats.isFile() ? await startOf(file, PRIVATE_KEY_BYTES) : new Uint8Array();
      return holdsPrivateKey(start) ? failed(sensitiveText(given)) : await read(withStart(file, start));
    } finally {
      await file.close();
    }
  } catch (error) {
    if (signal.aborted) return failed('Interrupted by user');
    if (errorCode(error) === 'ENOENT') return failed(`${given} does not exist.`);
    return failed(`${given} cannot be read: ${errorMessage(error)}`);
  }
}
