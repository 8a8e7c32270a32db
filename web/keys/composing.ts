/** Safari sends it for the Enter that ends a composition. */
const COMPOSING_KEY = 229;

/** Whether a key belongs to an input method: Enter also ends the composition of a Chinese or Japanese word. */
export const isComposing = (event: KeyboardEvent): boolean => event.isComposing || event.keyCode === COMPOSING_KEY;
