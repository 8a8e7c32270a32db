let compare: Intl.Collator['compare'] | undefined;

/** Orders names for display. The collator is created on first use, because loading its locale data is slow. */
export const compareNames = (a: string, b: string): number => (compare ??= new Intl.Collator('en').compare)(a, b);
