/** HTML of text that a person consents to: hidden characters are marked, and characters are drawn in their order. */
import { visibleLine, visibleText } from '@service-code/client/text';
import { highlightOrEscape } from './highlight.ts';

/** Placeholder of a mark while the code is highlighted; as a hidden character it cannot occur in the text itself. */
const MARK = '\uE000';

const LETTER = String.raw`[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]`;
const WORD = String.raw`${LETTER}(?:${LETTER}|[\p{M}\u200C\u200D])*`;
/** Words that are written from right to left. They are isolated, so they reorder no punctuation around them. */
const RIGHT_TO_LEFT = new RegExp(`${WORD}(?: ${WORD})*`, 'gu');

/** An escape of `visibleText` in a text that already contains them. */
const ESCAPES = /<U\+[0-9A-F]{4,6}(?: × \d+)?>|<\d+ (?:empty lines|blanks)>/gu;

const FIRST_LETTER = /\p{L}/u;

/** Whether the first letter is one of a right-to-left script. */
export const isRightToLeft = (text: string): boolean =>
  new RegExp(LETTER, 'u').test(FIRST_LETTER.exec(text)?.[0] ?? '');

export interface ReviewOptions {
  /** Name of a language to highlight; default: none. */
  language?: string | undefined;
  /** The text is drawn as one line, such as a path: line ends and tabs are marked, too. */
  line?: boolean | undefined;
  /** The text already contains escapes, such as labels of the server; they are marked, too. Default: drawn as text. */
  hasEscapes?: boolean | undefined;
}

/** Returns safe HTML, to be drawn in an element of the class `review-text` or `review-rtl`. */
export function reviewHtml(text: string, options: ReviewOptions = {}): string {
  const { language = '', line = false, hasEscapes = false } = options;
  const marks: string[] = [];
  const mark = (escape: string) => {
    marks.push(escape);
    return MARK;
  };
  const visible = line ? visibleLine : visibleText;
  const marked = hasEscapes ? visible(text).replace(ESCAPES, mark) : visible(text, mark);
  let at = 0;
  return highlightOrEscape(marked, language)
    .replace(RIGHT_TO_LEFT, (words) => `<bdi dir="rtl">${words}</bdi>`)
    .replaceAll(MARK, () => `<mark class="escape">${highlightOrEscape(marks[at++] ?? '', '')}</mark>`);
}
