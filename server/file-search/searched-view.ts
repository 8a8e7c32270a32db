/** The view of a search: all entries except version control and those that ignore files of any kind match. */
import type { IgnoreRules } from '#server/ignore-rules/ignore-rules.ts';
import type { RelativePath } from '#server/files/work-directory.ts';
import type { View } from '#server/watches/view.ts';
import { VERSION_CONTROL } from './cold-search.ts';

/** Creating or removing a repository changes which ignore files apply. */
const RULE_FILES = new Set(['.gitignore', '.ignore', '.git']);

/** Creates the view; `readRules` reads all ignore files again. */
export function searchedView(readRules: () => Promise<IgnoreRules>): View {
  let rules: Promise<IgnoreRules> | undefined;
  return {
    async enter({ path }) {
      if (path === '' || !rules) rules = readRules();
      // The path consists of names that the system returned, so no validation is needed.
      const own = await (await rules).at((path || '.') as RelativePath);
      return (_path, kind, name) => !VERSION_CONTROL.has(name) && !own.isIgnored(name, kind === 'directory');
    },
    isRuleFile: (path) => RULE_FILES.has(path.slice(path.lastIndexOf('/') + 1)),
  };
}
