/** Large pasted texts become attachments, since they would hide what was typed around them. */

/** From these sizes on. */
const MAX_CHARS = 8000;
const MAX_LINES = 150;

export const lineCount = (text: string): number => text.split('\n').length;

export const isLargePaste = (text: string): boolean => text.length > MAX_CHARS || lineCount(text) > MAX_LINES;
