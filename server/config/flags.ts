/** Experimental flags. */
import { envBoolean } from '#server/env.ts';

const DEFAULTS = {
  'tool-select': false,
  wait_for: true,
  'secondary-model': false,
  subagent_fork: false,
  auto_session_title: false,
  session_read_model: true,
};
export type Flag = keyof typeof DEFAULTS;
export type Flags = Record<Flag, boolean>;

const PREFIX = 'SERVICE_CODE_EXPERIMENTAL_';

/** Resolves each flag: the variable for all flags, then its own variable, the stored table, the default. */
export function resolveFlags(env: NodeJS.ProcessEnv, table: Record<string, boolean> = {}): Flags {
  const all = envBoolean(env, `${PREFIX}FLAG`) === true;
  const resolve = (flag: Flag): boolean => {
    if (all) return true;
    const variable = PREFIX + flag.replaceAll('-', '_').toUpperCase();
    return envBoolean(env, variable) ?? table[flag] ?? DEFAULTS[flag];
  };
  return {
    'tool-select': resolve('tool-select'),
    wait_for: resolve('wait_for'),
    'secondary-model': resolve('secondary-model'),
    subagent_fork: resolve('subagent_fork'),
    auto_session_title: resolve('auto_session_title'),
    session_read_model: resolve('session_read_model'),
  };
}
