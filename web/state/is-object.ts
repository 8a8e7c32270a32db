export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A member that is a text. */
export function textIn(value: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const found = value[name];
  return typeof found === 'string' ? found : undefined;
}
