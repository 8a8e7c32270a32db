/** HTML of text that a person consents to: hidden characters are marked, and characters are drawn in their order. */
import { visibleLine, visibleText } from '#server/visible-text.ts';
import { highlightOrEscape } from './markdown.ts';

/** Placeholder of a mark while the code is highlighted; the text itself contains none, because it is a hidden character. */
const MARK = '\uE000';

const LETTER = String.raw`[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]`;
const WORD = String.raw`${LETTER}(?:${LETTER}|[\p{M}\u200C\u200D])*`;
/** Words that are written from right to left. They are isolated, so they reorder no punctuation around them. */
const RIGHT_TO_LEFT = new RegExp(`${WORD}(?: ${WORD})*`, 'gu');

export interface ReviewOptions {
  /** Name of a language to highlight; default: none. */
  language?: string | undefined;
  /** The text is drawn as one line, such as a path: line ends and tabs are marked, too. */
  line?: boolean | undefined;
}

/** Returns safe HTML, to be drawn in an element of the class `review-text`. */
export function reviewHtml(text: string, { language = '', line = false }: ReviewOptions = {}): string {
  const marks: string[] = [];
  const marked = (line ? visibleLine : visibleText)(text, (mark) => {
    marks.push(mark);
    return MARK;
  });
  let at = 0;
  return highlightOrEscape(marked, language)
    .replace(RIGHT_TO_LEFT, (words) => `<bdi dir="rtl">${words}</bdi>`)
    .replaceAll(MARK, () => `<mark class="escape">${highlightOrEscape(marks[at++] ?? '', '')}</mark>`);
}
