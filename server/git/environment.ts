/**
 * Environment of git processes, so that no program that a repository configures is started. Settings are passed in
 * variables and not in arguments: variables reach the processes that git (or `gh`) starts itself, and a key may contain
 * any character, `=` too.
 */

/** The user's `GIT_` variables that locate the configuration; all others would select what git works on. */
const KEPT = [
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_CONFIG_NOSYSTEM',
  'GIT_CEILING_DIRECTORIES',
  'GIT_EXEC_PATH',
];

/** Set only by us: if git returns it, git supports settings in variables (since 2.31). */
export const PROBE = 'servicecode.settings';

/** Settings of a fixed name that could start a program or write; filters, whose names vary, follow per repository. */
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
  // Refreshing would take the lock of the index, regardless of `GIT_OPTIONAL_LOCKS`.
  ['diff.autoRefreshIndex', 'false'],
  // A temporary index of ours would write its shared part into the repository.
  ['core.splitIndex', 'false'],
  ['protocol.allow', 'never'],
  // Default: a directory in the project that looks like a bare repository is used as one.
  ['safe.bareRepository', 'explicit'],
  ['submodule.recurse', 'false'],
  ['core.quotePath', 'false'],
  ['color.ui', 'false'],
];

/** A count as git parses it: blanks and a sign may precede it. Any other value is passed on, and git fails. */
const COUNT = /^\s*\+?(\d+)$/;

/**
 * Returns the environment of a command whose git processes must not use a bare repository that they discover: one may
 * have been built from ordinary files. The setting is appended to those of the environment. Git before 2.38 ignores it.
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

/** Empties the filter's commands; `required` is off, so that git does not fail without them. */
const filterSettings = (filter: string) =>
  [
    [`filter.${filter}.clean`, ''],
    [`filter.${filter}.smudge`, ''],
    [`filter.${filter}.process`, ''],
    [`filter.${filter}.required`, 'false'],
  ] as const;

/** Returns the environment for git; `filters` are the names of the configured filters. */
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
