/** Safari sends it for the Enter that ends a composition. */
const COMPOSING_KEY = 229;

/** Whether a key belongs to an input method: Enter also ends the composition of a Chinese or Japanese word. */
export const isComposing = (event: KeyboardEvent): boolean => event.isComposing || event.keyCode === COMPOSING_KEY;

/** Whether it is an Option key of a Mac that begins an accent, such as Option+N; it has the same code. */
export const beginsAccent = (event: KeyboardEvent): boolean =>
  event.key === 'Dead' && event.altKey && !event.isComposing;
