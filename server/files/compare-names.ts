let compare: Intl.Collator['compare'] | undefined;

/** Names of things as people order them. The rules of a language take their time to load: at the first use, not before. */
export const compareNames = (a: string, b: string): number => (compare ??= new Intl.Collator('en').compare)(a, b);
