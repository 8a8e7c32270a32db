/** What a search sees of a tree: everything but version control and what ignore files of any kind match. */
import type { IgnoreRules } from '#server/files/ignore-rules.ts';
import type { RelativePath } from '#server/files/work-directory.ts';
import type { View } from '#server/watches/view.ts';
import { VERSION_CONTROL } from './cold-search.ts';

/** A repository that begins or ends changes which ignore files count. */
const RULE_FILES = new Set(['.gitignore', '.ignore', '.git']);

/** `readRules` looks at all ignore files anew. */
export function searchedView(readRules: () => Promise<IgnoreRules>): View {
  let rules: Promise<IgnoreRules> | undefined;
  return {
    async enter({ path }) {
      if (path === '' || !rules) rules = readRules();
      // It was made of names that the system gave.
      const own = await (await rules).at((path || '.') as RelativePath);
      return (_path, kind, name) => !VERSION_CONTROL.has(name) && !own.isIgnored(name, kind === 'directory');
    },
    isRuleFile: (path) => RULE_FILES.has(path.slice(path.lastIndexOf('/') + 1)),
  };
}
