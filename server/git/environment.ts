/**
 * What git is told through its environment, so that nothing a repository configures is started. Every setting stands in
 * variables and not in arguments: they reach the processes that git (or `gh`) starts itself, and a key may hold any
 * character, `=` too.
 */

/** Of the user's `GIT_` variables those that say where configuration lies; all others would say what to work on. */
const KEPT = [
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_CONFIG_NOSYSTEM',
  'GIT_CEILING_DIRECTORIES',
  'GIT_EXEC_PATH',
];

/** Set by us alone: where git reads it back, it honours the settings given by variables (since 2.31). */
export const PROBE = 'servicecode.settings';

/** Beside filters, which have names of their own: what a repository's configuration could start or write. */
const SETTINGS: readonly (readonly [key: string, value: string])[] = [
  [PROBE, 'true'],
  ['core.fsmonitor', ''],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['core.askPass', ''],
  ['core.sshCommand', 'false'],
  ['core.editor', 'false'],
  ['credential.helper', ''],
  ['diff.external', ''],
  // Would take the lock of the index, whatever is said about optional locks.
  ['diff.autoRefreshIndex', 'false'],
  // An index of ours would have a part in the repository.
  ['core.splitIndex', 'false'],
  ['protocol.allow', 'never'],
  // Else a directory in the project that looks like a bare repository is one.
  ['safe.bareRepository', 'explicit'],
  ['submodule.recurse', 'false'],
  ['core.quotePath', 'false'],
  ['color.ui', 'false'],
];

/** How git writes a count: blanks and a sign may precede it. Anything else makes git fail, and is left to it. */
const COUNT = /^\s*\+?(\d+)$/;

/**
 * The environment of a command whose gits must not use a bare repository that they find by searching: one may have been
 * built from ordinary files. The setting follows those that the environment has already. Git before 2.38 ignores it.
 */
export function withExplicitRepositories(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { GIT_CONFIG_COUNT: count = '' } = environment;
  const given = count === '' ? '0' : COUNT.exec(count)?.[1];
  if (given === undefined) return environment;
  return {
    ...environment,
    [`GIT_CONFIG_KEY_${Number(given)}`]: 'safe.bareRepository',
    [`GIT_CONFIG_VALUE_${Number(given)}`]: 'explicit',
    GIT_CONFIG_COUNT: String(Number(given) + 1),
  };
}

/** Without a command of theirs, and not missed for it. */
const filterSettings = (filter: string) =>
  [
    [`filter.${filter}.clean`, ''],
    [`filter.${filter}.smudge`, ''],
    [`filter.${filter}.process`, ''],
    [`filter.${filter}.required`, 'false'],
  ] as const;

/** The environment for git; `filters` are the names of those that are configured. */
export function gitEnvironment(environment: NodeJS.ProcessEnv, filters: readonly string[] = []): NodeJS.ProcessEnv {
  const own = Object.entries(environment).filter(([name]) => !/^GIT_/i.test(name) || KEPT.includes(name));
  const settings = [...SETTINGS, ...filters.flatMap(filterSettings)];
  return {
    ...Object.fromEntries(own),
    LC_ALL: 'C',
    PAGER: 'cat',
    GIT_PAGER: 'cat',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    SSH_ASKPASS: '',
    GIT_LITERAL_PATHSPECS: '1',
    // Objects that a partial clone lacks are not fetched: a remote is a program that the repository names.
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(settings.map(([key], index) => [`GIT_CONFIG_KEY_${index}`, key])),
    ...Object.fromEntries(settings.map(([, value], index) => [`GIT_CONFIG_VALUE_${index}`, value])),
  };
}
