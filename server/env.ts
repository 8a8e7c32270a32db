/** How a variable of the environment reads. */

type Env = NodeJS.ProcessEnv;

const WORDS = new Map([
  ...['1', 'true', 'yes', 'on'].map((word) => [word, true] as const),
  ...['0', 'false', 'no', 'off'].map((word) => [word, false] as const),
]);

/** Trimmed; blank counts as not set. */
export function envText(env: Env, name: string): string | undefined {
  return env[name]?.trim() || undefined;
}

/** `1 true yes on`, `0 false no off`, any case; undefined for everything else. */
export function envBoolean(env: Env, name: string): boolean | undefined {
  return WORDS.get(envText(env, name)?.toLowerCase() ?? '');
}

/** Decimal digits only. */
export function envInteger(env: Env, name: string): number | undefined {
  const text = envText(env, name);
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}
