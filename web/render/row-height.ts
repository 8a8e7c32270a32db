/** Estimates the height of a row before it is drawn, closely enough that the scroll bar does not jump. */
import type { Row } from '../state/rows.ts';

const LINE_PX = 20;
const LINE_CHARS = 100;
const GAP_PX = 14;
const CARD_PX = 37;

const linesOf = (text: string) => Math.ceil(text.length / LINE_CHARS) + (text.match(/\n/g)?.length ?? 0);

export function rowHeight(row: Row | undefined): number {
  switch (row?.kind) {
    case 'prompt':
      return linesOf(row.text) * LINE_PX + GAP_PX + 14 + (row.attachmentIds.length ? 200 : 0);
    case 'text':
      return linesOf(row.text) * LINE_PX + 6 + GAP_PX;
    case 'call':
      return CARD_PX + GAP_PX;
    case 'work':
    case 'group':
      return LINE_PX + 10 + GAP_PX;
    default:
      return LINE_PX + 12 + GAP_PX;
  }
}
