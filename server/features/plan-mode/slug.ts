/** Generates plan names that people can read and distinguish. */
import { randomInt } from 'node:crypto';

const adjectives = ['amber', 'brave', 'calm', 'clear', 'early', 'gentle', 'keen', 'quiet', 'silver', 'steady', 'swift'];
const nouns = ['bridge', 'cedar', 'compass', 'delta', 'harbor', 'lantern', 'meadow', 'orchard', 'river', 'summit'];

const pick = (words: readonly string[]) => words[randomInt(words.length)] ?? 'plan';

/** Two words and four digits. */
export const newSlug = (): string => `${pick(adjectives)}-${pick(nouns)}-${String(randomInt(10_000)).padStart(4, '0')}`;
