// Seeded texts of sessions: pseudo-words by frequency, a word that most texts have, one that a tenth have, identifiers,
// and Han characters in a tenth of the sessions.

/** Most texts contain the first word, a tenth the second. */
export const COMMON_WORD = 'session';
export const TENTH_WORD = 'parser';
const COMMON_SHARE = 0.8;
const TENTH_SHARE = 0.1;
const IDENTIFIER_SHARE = 0.3;

/** Han characters that sessions consist of in part; they contain no rare ones. */
const HAN = [
  ...'的一是不了在人有我他这中大来上个国到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可里后小么心多天而能好都然没日于起还发成事只作当想看文无开手用主行方又如前所本见经头面公同三已老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种声全工已手机期新学生问题',
];
const VOCABULARY_SIZE = 6000;
const SYLLABLES = [
  'ka',
  'ro',
  'mi',
  'ten',
  'sul',
  'ver',
  'no',
  'pa',
  'li',
  'dor',
  'an',
  'est',
  'gru',
  'be',
  'fi',
  'om',
];

/** Numbers from 0 up to 1; the same seed yields the same sequence (mulberry32). */
export function seeded(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const below = (random, limit) => Math.floor(random() * limit);

const vocabulary = Array.from({ length: VOCABULARY_SIZE }, (_, number) => {
  const random = seeded(number + 1);
  const word = Array.from({ length: 2 + below(random, 3) }, () => SYLLABLES[below(random, SYLLABLES.length)]).join('');
  return `${word}${number % 7 === 0 ? number : ''}`;
});

/** Frequent words first, about as in natural texts. */
const word = (random) => vocabulary[Math.floor(VOCABULARY_SIZE * random() ** 3)];

const hanText = (random, length) => Array.from({ length }, () => HAN[below(random, HAN.length)]).join('');

/** A text of about so many words, without characters that JSON escapes. */
function textOf(random, { words, isHan }) {
  const list = Array.from({ length: words }, () => (isHan && random() < 0.7 ? hanText(random, 3) : word(random)));
  if (random() < COMMON_SHARE) list.splice(below(random, words), 0, COMMON_WORD);
  if (random() < TENTH_SHARE) list.splice(below(random, words), 0, TENTH_WORD);
  if (random() < IDENTIFIER_SHARE) list.splice(below(random, words), 0, identifier(below(random, VOCABULARY_SIZE)));
  return list.join(isHan ? '，' : ' ');
}

/** Identifier number `number` of `VOCABULARY_SIZE`, to search for as a literal. */
export const identifier = (number) => `read_${vocabulary[number]}Rows(`;

/** Texts of the session with that number: `{ prompt(), answer() }`, shorter and longer ones. */
export function textsOf(number) {
  const random = seeded(number * 2 + 1);
  const isHan = random() < 0.1;
  return {
    // At most 200 characters, so that it is the title as well.
    prompt: () => textOf(random, { words: 4 + below(random, 12), isHan }).slice(0, 190),
    answer: () => textOf(random, { words: 20 + below(random, 100), isHan }),
  };
}
