/**
 * Escapes hidden characters in text that a person consents to. Shared by server and page, so that the server's labels
 * and the page's cards contain the same escapes. Only for displayed text, never for text that is run or stored.
 */

/** Characters that render as nothing or a blank, or that reorder their surroundings; excludes the space. */
const HIDDEN = String.raw`(?! )[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}\u2800]`;

/** Emoji sequences, and joiners between letters of scripts that need them; they are not escaped. */
const EMOJI = String.raw`\p{Extended_Pictographic}(?:[\uFE0E\uFE0F]|\p{Emoji_Modifier})?`;
const SEQUENCES = String.raw`${EMOJI}(?:\u200D${EMOJI})*|[0-9#*]\uFE0F\u20E3`;
const JOINED =
  'Arabic Syriac Devanagari Bengali Gujarati Gurmukhi Oriya Tamil Telugu Kannada Malayalam Sinhala Khmer Mongolian'
    .split(' ')
    .map((script) => String.raw`(?<=[\p{Script=${script}}\p{M}])[\u200C\u200D](?=\p{Script=${script}})`)
    .join('|');

/** `except`: hidden characters that remain; `lineEnd` and `folds`: patterns of line ends and of runs of them. */
const partsOf = (except: string, lineEnd: string, folds: string) =>
  new RegExp(
    String.raw`(?<keep>${SEQUENCES}|${JOINED})|(?<empty>${folds})|(?<lineEnd>${lineEnd})|(?<blanks>[ \t]{201,})|${except}(?<hidden>${HIDDEN})\k<hidden>*|(?<word>(?:(?!${HIDDEN})[\p{L}\p{M}\p{N}])+)`,
    'gu',
  );
const PARTS_OF_LINES = partsOf(String.raw`(?![\t\n])`, String.raw`\r\n`, String.raw`(?<=\n|^)(?:[ \t]*\r?\n){3,}`);
const PARTS_OF_LINE = partsOf('', '(?!)', '(?!)');

const HAS_LATIN = /\p{Script=Latin}/u;
/** Letters of scripts that contain look-alikes of Latin letters. */
const LOOK_ALIKES = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}]/gu;

/** Greek letters that resemble no Latin letter: `Δx`, `μs` and `kΩ` are not disguises. */
const GREEK_SYMBOL = /^[ΓΔΘΛΞΠΣΦΨΩδζθλμξπφψ]$/u;

/** Words of another script whose letters all look Latin; a single Greek letter is treated as a symbol. */
const DISGUISES = [
  { word: /^[\p{N}АВЕКМНОРСТУХЅІЈҮӀԌԚԜаеорсухѕіјүһӏԁԛԝ]+$/u, letter: /\p{Script=Cyrillic}/gu, fewest: 1 },
  { word: /^[\p{N}ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγικνορσυϲϳ]+$/u, letter: /\p{Script=Greek}/gu, fewest: 2 },
];
const WORD_BEFORE = /([\p{L}\p{M}\p{N}]+)[^\p{L}\p{M}\p{N}\n]*$/u;
const WORD_AFTER = /^[^\p{L}\p{M}\p{N}\n]*([\p{L}\p{M}\p{N}]+)/u;
/** Length of the text around a word that is inspected, in UTF-16 units. */
const AROUND = 40;

const codeOf = (character: string) => `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;

/** Applies `mark` to each escape, such as `<U+2067>`, and to each fold, such as `<60 empty lines>`. */
export function visibleText(text: string, mark = (escape: string) => escape): string {
  return escaped(text, PARTS_OF_LINES, mark);
}

/** `visibleText` for text that is displayed on one line: line ends and tabs are escaped too. */
export function visibleLine(text: string, mark = (escape: string) => escape): string {
  return escaped(text, PARTS_OF_LINE, mark);
}

function escaped(text: string, parts: RegExp, mark: (escape: string) => string): string {
  return text.replace(parts, (found: string, ...more) => {
    const { hidden, empty, lineEnd, blanks, word }: Partial<Record<string, string>> = more.at(-1);
    if (lineEnd !== undefined) return '\n';
    if (empty !== undefined) {
      return `${mark(`<${empty.split('\n').length - 1} empty lines>`)}\n`;
    }
    if (blanks !== undefined) return mark(`<${blanks.length} blanks>`);
    if (hidden !== undefined) {
      const times = found.length / hidden.length;
      return mark(times > 8 ? `<${codeOf(hidden)} × ${times}>` : `<${codeOf(hidden)}>`.repeat(times));
    }
    if (word === undefined) return found;
    const letters = HAS_LATIN.test(word) ? foreignLetters(word) : disguisedLetters(word, text, Number(more.at(-3)));
    return letters ? word.replace(letters, (letter) => mark(`<${codeOf(letter)}>`)) : word;
  });
}

/** The letters to mark in a word that contains Latin letters. */
function foreignLetters(word: string): RegExp | undefined {
  const [first, second] = word.match(LOOK_ALIKES) ?? [];
  return first !== undefined && second === undefined && GREEK_SYMBOL.test(first) ? undefined : LOOK_ALIKES;
}

/**
 * The letters to mark in a word without Latin letters that looks like a Latin word. Next to other words of its script
 * it is genuine, as the Russian `со` is, unless it is joined to Latin text, as in a path or host.
 */
function disguisedLetters(word: string, text: string, at: number): RegExp | undefined {
  const disguise = DISGUISES.find((one) => one.word.test(word));
  if (!disguise || (word.match(disguise.letter)?.length ?? 0) < disguise.fewest) return undefined;
  const before = text.slice(Math.max(0, at - AROUND), at);
  const after = text.slice(at + word.length, at + word.length + AROUND);
  const joined = `${/\S*$/.exec(before)?.[0]} ${/^\S*/.exec(after)?.[0]}`;
  const neighbours = [WORD_BEFORE.exec(before)?.[1], WORD_AFTER.exec(after)?.[1]];
  const isPlain = (other = '') =>
    other.search(disguise.letter) >= 0 && !disguise.word.test(other) && !HAS_LATIN.test(other);
  return HAS_LATIN.test(joined) || !neighbours.some(isPlain) ? disguise.letter : undefined;
}
