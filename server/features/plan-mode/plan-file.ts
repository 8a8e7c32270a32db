/** The file that holds an agent's plan: the only one that plan mode allows to write, and the text of a review. */
import { lstatSync, mkdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { errorMessage } from '#server/errors/service-error.ts';
import type { Runtime } from '#server/runtime/runtime.ts';
import type { Access } from '#server/tools/tool.ts';

/** Largest plan that can be reviewed. */
export const MAX_PLAN_BYTES = 256 * 1024;

export interface PlanFile {
  /** Absolute path, which reminders and results contain. */
  path: string;
  /** The session's folder. */
  dir: string;
}

/** The path is in the session's folder. */
export const planFile = (dir: string, agentId: string, id: string): PlanFile => ({
  path: join(dir, 'agents', agentId, 'plans', `${id}.md`),
  dir,
});

/** Creates the file's directory. Throws errors of the file system. */
export function makePlanDirectory({ path }: PlanFile): void {
  mkdirSync(dirname(path), { recursive: true });
}

/** Whether the file exists and is not empty. */
export function hasContent({ path }: PlanFile): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats !== undefined && stats.isFile() && stats.size > 0;
}

/**
 * The resolved path of the file. Links above the session's folder are the user's; a link below it was added later, and
 * following it would write or show another file, so it is not resolved.
 */
const realPlace = async ({ path, dir }: PlanFile, runtime: Pick<Runtime, 'realpath'>) =>
  join(await runtime.realpath(dir), relative(dir, path));

/** Whether a call declares writes, all of them to the plan file. Throws for paths that cannot be resolved. */
export async function writesPlanOnly(
  accesses: readonly Access[],
  file: PlanFile,
  runtime: Pick<Runtime, 'realpath'>,
): Promise<boolean> {
  const place = await realPlace(file, runtime);
  let writes = 0;
  for (const access of accesses) {
    if (access.kind !== 'file') return false;
    if (access.mode === 'read') continue;
    if ((await runtime.realpath(access.path)) !== place) return false;
    writes += 1;
  }
  return writes > 0;
}

/** The plan, or the reason why it cannot be shown. */
export async function readPlan(
  file: PlanFile,
  runtime: Pick<Runtime, 'realpath' | 'openFile'>,
): Promise<{ text: string } | { problem: string }> {
  const { path } = file;
  try {
    if ((await runtime.realpath(path)) !== (await realPlace(file, runtime))) {
      return { problem: `The plan file ${path} leads to another place. Remove it and write the plan anew.` };
    }
    const opened = await runtime.openFile(path);
    try {
      const { stats } = opened;
      if (!stats.isFile()) return { problem: `The plan file ${path} is no regular file.` };
      if (stats.size > MAX_PLAN_BYTES) {
        return { problem: `The plan in ${path} is longer than ${MAX_PLAN_BYTES / 1024} KiB. Shorten it.` };
      }
      const chunks: Uint8Array[] = [];
      for (let left = stats.size; left > 0;) {
        const chunk = await opened.read(left);
        if (chunk.length === 0) break;
        chunks.push(chunk);
        left -= chunk.length;
      }
      const text = Buffer.concat(chunks).toString('utf8');
      if (text.trim() === '') return { problem: `The plan file ${path} is empty. Write the plan into it first.` };
      return { text };
    } finally {
      await opened.close();
    }
  } catch (error) {
    return { problem: `There is no plan in ${path}; write it there first. (${errorMessage(error)})` };
  }
}
