/** Templates with placeholders, `${name}`. */

/** Values by name; each is computed only if the template references it, and is not expanded again. */
export type Placeholders = Readonly<Record<string, () => string | Promise<string>>>;

const PLACEHOLDER = /\$\{([a-z_]+)\}/g;

/** Fills in the template; unknown names stay verbatim. */
export async function fillTemplate(template: string, placeholders: Placeholders): Promise<string> {
  const named = new Set([...template.matchAll(PLACEHOLDER)].map(([, name = '']) => name));
  const values = new Map<string, string>();
  for (const name of named) {
    const value = Object.hasOwn(placeholders, name) ? placeholders[name] : undefined;
    if (value) values.set(name, await value());
  }
  return template.replaceAll(PLACEHOLDER, (whole, name: string) => values.get(name) ?? whole);
}
