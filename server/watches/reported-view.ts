/**
 * The view of file watches: all entries except `.git`, at any depth, and those that the work directory's top-level
 * `.gitignore` matches; other ignore files are not read.
 */
import { parseIgnoreFile } from '#server/ignore-rules/ignore-file.ts';
import type { Sees, View } from './view.ts';

const RULE_FILE = '.gitignore';
const GIT = '.git';

export const reportedView: View = {
  async enter(directory, inherited): Promise<Sees> {
    if (inherited) return inherited;
    const text = directory.has(RULE_FILE) ? await directory.read(RULE_FILE) : undefined;
    const rules = text === undefined ? undefined : parseIgnoreFile(text);
    return (path, kind, name) => name !== GIT && rules?.match(path, name, kind === 'directory') !== true;
  },
  isRuleFile: (path) => path === RULE_FILE,
};
