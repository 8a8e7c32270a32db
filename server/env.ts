/** Parses environment variables. */

type Env = NodeJS.ProcessEnv;

const WORDS = new Map([
  ...['1', 'true', 'yes', 'on'].map((word) => [word, true] as const),
  ...['0', 'false', 'no', 'off'].map((word) => [word, false] as const),
]);

/** Trimmed value; undefined for a blank one. */
export function envText(env: Env, name: string): string | undefined {
  return env[name]?.trim() || undefined;
}

/** `1 true yes on`, `0 false no off`, case-insensitive; undefined for any other value. */
export function envBoolean(env: Env, name: string): boolean | undefined {
  return WORDS.get(envText(env, name)?.toLowerCase() ?? '');
}

/** Accepts decimal digits only; undefined for any other value. */
export function envInteger(env: Env, name: string): number | undefined {
  const text = envText(env, name);
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}
