/**
 * Trust by file owner above a work directory. The user has chosen the work directory and everything in it, but any user
 * of the machine may put `.git`, `AGENTS.md` or `.mcp.json` into a directory above it, such as `/tmp`.
 */
import { dirname, join } from 'node:path';
import { errorCode } from '#server/errors/errno.ts';
import { isInside } from '#server/files/paths.ts';
import type { FileStats, Runtime } from '#server/runtime/runtime.ts';

export interface OwnerRuleDeps {
  runtime: Pick<Runtime, 'effectiveUser' | 'lstat' | 'stat'>;
  /** True if the user trusts exactly this directory. */
  trusted(directory: string): Promise<boolean>;
}

/**
 * Returns whether the entry `name` of a directory is accepted for sessions in `workDirectory`; both directories are
 * spelled alike. If `name` has several segments, each of them must be accepted. A missing entry is accepted.
 */
export type OwnerRule = (directory: string, name: string, workDirectory: string) => Promise<boolean>;

const ROOT_USER = 0;
const ABSENT = new Set(['ENOENT', 'ENOTDIR']);

/** Undefined for a missing path. */
async function present(facts: Promise<FileStats>): Promise<FileStats | undefined> {
  try {
    return await facts;
  } catch (error) {
    if (ABSENT.has(errorCode(error) ?? '')) return undefined;
    throw error;
  }
}

/** Paths of the entry and of its ancestors below the directory: `a`, `a/b`, `a/b/c`. */
function entriesOf(directory: string, name: string): string[] {
  const entries: string[] = [];
  for (let entry = name; entry !== '.'; entry = dirname(entry)) entries.push(join(directory, entry));
  return entries;
}

/** Accepts an entry if it and its link target belong to the effective user, root or the work directory's owner. */
export function createOwnerRule({ runtime, trusted }: OwnerRuleDeps): OwnerRule {
  async function ownersOf(entry: string): Promise<number[]> {
    const facts = [await present(runtime.lstat(entry)), await present(runtime.stat(entry))];
    return facts.flatMap((stats) => stats?.uid ?? []);
  }

  async function isOwned(entries: readonly string[], workDirectory: string): Promise<boolean> {
    const user = runtime.effectiveUser();
    if (user === undefined) return true;
    try {
      const owners = (await Promise.all(entries.map(ownersOf))).flat();
      const foreign = owners.filter((uid) => uid !== user && uid !== ROOT_USER);
      if (foreign.length === 0) return true;
      const { uid: owner } = await runtime.stat(workDirectory);
      return foreign.every((uid) => uid === owner);
    } catch {
      // An entry whose owner cannot be read is treated as foreign.
      return false;
    }
  }

  return async (directory, name, workDirectory) => {
    if (isInside(directory, workDirectory)) return true;
    return (await isOwned(entriesOf(directory, name), workDirectory)) || trusted(directory);
  };
}
