/** Text diff of tracked files against the last commit. */
import { cutBytes } from '#server/text/truncate.ts';
import { DIFF_OPTIONS } from './diff-options.ts';
import { gitUnavailable, type WorkTree } from './work-tree.ts';

/** Limit of the diff's text, in UTF-8. */
export const DIFF_MAX_BYTES = 1024 * 1024;
const PATHS_MAX_BYTES = 64 * 1024;

/** Ids of the empty tree, which git accepts even if the object is not stored. */
const EMPTY_TREES: Record<string, string> = {
  sha1: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  sha256: '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
};

export interface Diff {
  text: string;
  truncated: boolean;
}

async function text(tree: WorkTree, args: readonly string[], maxOutputBytes: number) {
  const pieces: string[] = [];
  const { cut } = await tree.read(args, { onText: (piece) => void pieces.push(piece), maxOutputBytes });
  return { text: pieces.join(''), cut };
}

/** Returns the revision to compare with; undefined before the first commit. */
export async function headOf(tree: WorkTree): Promise<string | undefined> {
  const { exitCode } = await tree.run(['rev-parse', '--quiet', '--verify', 'HEAD'], {
    onText: () => undefined,
    maxOutputBytes: PATHS_MAX_BYTES,
  });
  return exitCode === 0 ? 'HEAD' : undefined;
}

async function emptyTree(tree: WorkTree): Promise<string> {
  const { text: format } = await text(tree, ['rev-parse', '--show-object-format'], PATHS_MAX_BYTES);
  const id = EMPTY_TREES[format.trim()];
  if (id === undefined) throw gitUnavailable(tree.directory, `objects are named by ${format.trim()}`);
  return id;
}

/** Diffs index and work tree together against HEAD, tracked files only; `path` is relative to the work directory. */
export async function diffTracked(tree: WorkTree, path: string, head: string | undefined): Promise<Diff> {
  const against = head ?? (await emptyTree(tree));
  // The limit allows one byte more than is returned, which shows that the text was truncated.
  const found = await text(tree, ['diff', ...DIFF_OPTIONS, '--no-renames', against, '--', path], DIFF_MAX_BYTES);
  const cut = cutBytes(found.text, DIFF_MAX_BYTES);
  return { text: cut, truncated: found.cut || cut.length < found.text.length };
}

/** Whether a file is neither tracked nor ignored. */
export async function isUntracked(tree: WorkTree, path: string): Promise<boolean> {
  const args = ['ls-files', '-z', '--others', '--exclude-standard', '--', path];
  return (await text(tree, args, PATHS_MAX_BYTES)).text !== '';
}
