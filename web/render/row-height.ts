/** Estimates the height of a row before it is drawn, closely enough that the scroll bar does not jump. */
import type { Frame } from '../client/types.ts';
import type { Row } from '../state/timeline.ts';

const LINE_PX = 20;
const LINE_CHARS = 100;
const GAP_PX = 14;
const CARD_PX = 37;

const linesOf = (text: string) => Math.ceil(text.length / LINE_CHARS) + (text.match(/\n/g)?.length ?? 0);

function frameHeight(frame: Frame): number {
  if (frame.kind === 'text') return linesOf(frame.text) * LINE_PX + 6;
  return frame.kind === 'thinking' ? LINE_PX + 10 : CARD_PX;
}

export function rowHeight(row: Row | undefined): number {
  switch (row?.kind) {
    case 'prompt':
      return linesOf(row.text) * LINE_PX + GAP_PX + 14 + (row.attachmentIds.length ? 200 : 0);
    case 'step':
      return row.frames.reduce((height, frame) => height + frameHeight(frame), GAP_PX);
    default:
      return LINE_PX + 12 + GAP_PX;
  }
}
