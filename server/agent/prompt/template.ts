/** Prompts with placeholders, `${name}`. */

/** By name; a value is made once it is named, and nothing in it is a placeholder. */
export type Placeholders = Readonly<Record<string, () => string | Promise<string>>>;

const PLACEHOLDER = /\$\{([a-z_]+)\}/g;

/** The template with what it names; names that there are not stay as they stand. */
export async function fillTemplate(template: string, placeholders: Placeholders): Promise<string> {
  const named = new Set([...template.matchAll(PLACEHOLDER)].map(([, name = '']) => name));
  const values = new Map<string, string>();
  for (const name of named) {
    const value = Object.hasOwn(placeholders, name) ? placeholders[name] : undefined;
    if (value) values.set(name, await value());
  }
  return template.replaceAll(PLACEHOLDER, (whole, name: string) => values.get(name) ?? whole);
}
