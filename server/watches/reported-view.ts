/**
 * What file watches report: everything but `.git`, at any depth, and what the `.gitignore` of the work directory itself
 * matches; further ignore files do not count.
 */
import ignore from 'ignore';
import type { Sees, View } from './view.ts';

const RULE_FILE = '.gitignore';
/** The library remembers every path it was asked about: its memory is dropped after so many. */
const REMEMBERED_PATHS = 5_000;

function ignoredBy(text: string): (path: string, directory: boolean) => boolean {
  const fresh = () => ignore({ ignorecase: false, allowRelativePaths: true }).add(text);
  let rules = fresh();
  let asked = 0;
  return (path, directory) => {
    if (++asked % REMEMBERED_PATHS === 0) rules = fresh();
    return rules.ignores(directory ? `${path}/` : path);
  };
}

const isGit = (path: string) => path === '.git' || path.endsWith('/.git');

export const reportedView: View = {
  async enter(directory, inherited): Promise<Sees> {
    if (inherited) return inherited;
    const text = directory.has(RULE_FILE) ? await directory.read(RULE_FILE) : undefined;
    if (text === undefined) return (path) => !isGit(path);
    const ignored = ignoredBy(text);
    return (path, kind) => !isGit(path) && !ignored(path, kind === 'directory');
  },
  isRuleFile: (path) => path === RULE_FILE,
};
