/** The result of an empty query: the entries of the work directory itself. */
import { createTimeSlice } from '#server/async/yield.ts';
import type { EntryGlobs } from '#server/files/entry-globs.ts';
import { createIgnoreRules, type IgnoreRulesDeps } from '#server/ignore-rules/ignore-rules.ts';
import { within } from '#server/files/open-within.ts';
import { onPath } from '#server/files/path-error.ts';
import { relativePath, type WorkDirectory } from '#server/files/work-directory.ts';
import { listDirectory } from '#server/workspace-files/list-directory.ts';
import type { FileHits } from '#schema/rest/file-search.ts';

const ROOT = relativePath('.');

export interface TopLevelOptions {
  limit: number;
  showHidden: boolean;
  followIgnoreFiles: boolean;
  /** The entries to omit. */
  exclude: EntryGlobs;
  env: NodeJS.ProcessEnv;
  topOf: IgnoreRulesDeps['topOf'];
  signal: AbortSignal;
}

/** Lists directories first, by name. Throws `fs.path_not_found` when the directory is missing. */
export function listTopLevel(directory: WorkDirectory, options: TopLevelOptions): Promise<FileHits> {
  const { limit, showHidden, followIgnoreFiles, exclude, signal } = options;
  return onPath(ROOT, async () => {
    const inside = await within(directory);
    const place = await inside.open(ROOT);
    try {
      const rules = followIgnoreFiles ? createIgnoreRules(directory, inside, options).at(ROOT) : undefined;
      const { entries, truncated } = await listDirectory(place, ROOT, {
        limit,
        sort: 'type_first',
        showHidden,
        rules,
        exclude,
        allowIgnored: undefined,
        slice: createTimeSlice(),
        signal,
      });
      const items = entries.map(({ path, name, kind }) => ({ path, name, kind, score: 1, match_positions: [] }));
      return { items, truncated };
    } finally {
      await place.close();
    }
  });
}
