/** Counts lines added and deleted since the last commit. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DIFF_OPTIONS } from './diff-options.ts';
import type { StatusEntry } from './status-output.ts';
import { gitUnavailable, type WorkTree } from './work-tree.ts';

const NUMSTAT_MAX_BYTES = 64 * 1024 * 1024;
const ANSWER_MAX_BYTES = 64 * 1024;

export interface LineCounts {
  additions: number;
  deletions: number;
}

/** Sums up `git diff --numstat` incrementally; binary files have `-` instead of numbers. */
function createNumstatReader(): { write(text: string): void; counts: LineCounts } {
  const counts: LineCounts = { additions: 0, deletions: 0 };
  let rest = '';
  return {
    counts,
    write(text) {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const [, added, deleted] = /^(\d+)\t(\d+)\t/.exec(line) ?? [];
        counts.additions += Number(added ?? 0);
        counts.deletions += Number(deleted ?? 0);
      }
    },
  };
}

async function numstat(tree: WorkTree, args: readonly string[], index?: string): Promise<LineCounts> {
  const reader = createNumstatReader();
  const { cut } = await tree.read(['diff', '--numstat', ...DIFF_OPTIONS, '-M', ...args], {
    onText: reader.write,
    maxOutputBytes: NUMSTAT_MAX_BYTES,
    index,
  });
  if (cut) throw gitUnavailable(tree.directory, 'too many changes');
  return reader.counts;
}

/**
 * Counts with a temporary index that contains only the changed files of HEAD, so that git does not walk all of HEAD and
 * of the work tree again.
 */
async function numstatOfFew(tree: WorkTree, records: readonly string[]): Promise<LineCounts> {
  const directory = await mkdtemp(join(tmpdir(), 'service-code-index-'));
  try {
    const index = join(directory, 'index');
    await tree.read(['update-index', '-z', '--index-info'], {
      onText: () => undefined,
      maxOutputBytes: ANSWER_MAX_BYTES,
      index,
      input: records.join(''),
    });
    return await numstat(tree, [], index);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

export interface LineCounter {
  /** Adds a change that git reported. */
  add(entry: StatusEntry): void;
  /** Counts lines of work tree and index together against HEAD. */
  count(): Promise<LineCounts>;
}

export function createLineCounter(tree: WorkTree): LineCounter {
  const records: string[] = [];
  /** Whether the index has a path that HEAD lacks, or the other way round. */
  let needsHead = false;
  return {
    add({ path, status, head }) {
      if (status === 'untracked' || status === 'ignored') return;
      if (head) records.push(`${head.mode} ${head.id}\t${tree.prefix}${path}\0`);
      else needsHead = true;
    },
    async count() {
      if (needsHead) return numstat(tree, ['HEAD', '--', '.']);
      return records.length === 0 ? { additions: 0, deletions: 0 } : numstatOfFew(tree, records);
    },
  };
}
