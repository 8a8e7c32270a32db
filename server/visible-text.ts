/**
 * Hidden characters made visible in text that a person consents to. Server and page share it: the server's labels and
 * the page's cards contain the same escapes. Only displayed text passes through here, never what is run or stored.
 */

/** Characters that draw nothing, a blank, or reorder their surroundings; the space is excluded. */
const HIDDEN = String.raw`(?! )[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}\u2800]`;

/** Emoji sequences, and joiners between letters of scripts that need them, remain unmarked. */
const EMOJI = String.raw`\p{Extended_Pictographic}(?:[\uFE0E\uFE0F]|\p{Emoji_Modifier})?`;
const SEQUENCES = String.raw`${EMOJI}(?:\u200D${EMOJI})*|[0-9#*]\uFE0F\u20E3`;
const JOINED =
  'Arabic Syriac Devanagari Bengali Gujarati Gurmukhi Oriya Tamil Telugu Kannada Malayalam Sinhala Khmer Mongolian'
    .split(' ')
    .map((script) => String.raw`(?<=[\p{Script=${script}}\p{M}])[\u200C\u200D](?=\p{Script=${script}})`)
    .join('|');

/** `except` are hidden characters that remain. */
const partsOf = (except: string, folds: string) =>
  new RegExp(
    String.raw`(?<keep>${SEQUENCES}|${JOINED})|(?<empty>${folds})|(?<blanks>[ \t]{201,})|${except}(?<hidden>${HIDDEN})\k<hidden>*|(?<word>(?:(?!${HIDDEN})[\p{L}\p{M}\p{N}])+)`,
    'gu',
  );
const PARTS_OF_LINES = partsOf(String.raw`(?![\t\n])`, String.raw`(?<=\n|^)(?:[ \t]*\n){3,}`);
const PARTS_OF_LINE = partsOf('', '(?!)');

const HAS_LATIN = /\p{Script=Latin}/u;
/** Letters of scripts that contain look-alikes of Latin letters. */
const LOOK_ALIKES = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}]/gu;

const codeOf = (character: string) => `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;

/** Text with `mark` applied to each escape, such as `<U+2067>`, and to each fold, such as `<60 empty lines>`. */
export function visibleText(text: string, mark = (escape: string) => escape): string {
  return escaped(text, PARTS_OF_LINES, mark);
}

/** `visibleText` for text that is drawn as one line: line ends and tabs are escaped, too. */
export function visibleLine(text: string, mark = (escape: string) => escape): string {
  return escaped(text, PARTS_OF_LINE, mark);
}

function escaped(text: string, parts: RegExp, mark: (escape: string) => string): string {
  return text.replace(parts, (found: string, ...more) => {
    const { hidden, empty, blanks, word }: Partial<Record<string, string>> = more.at(-1);
    if (empty !== undefined) {
      return `${mark(`<${empty.split('\n').length - 1} empty lines>`)}\n`;
    }
    if (blanks !== undefined) return mark(`<${blanks.length} blanks>`);
    if (hidden !== undefined) {
      const times = found.length / hidden.length;
      return mark(times > 8 ? `<${codeOf(hidden)} × ${times}>` : `<${codeOf(hidden)}>`.repeat(times));
    }
    if (word !== undefined && HAS_LATIN.test(word)) {
      return word.replace(LOOK_ALIKES, (letter) => mark(`<${codeOf(letter)}>`));
    }
    return found;
  });
}
