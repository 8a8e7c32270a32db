/** Worker that parses and highlights growing texts. */
import { createBlockReader, type BlockChange, type BlockReader } from './markdown-blocks.ts';

/** `text` from `from` on replaces what the worker has; undefined: the text is not displayed any more. */
export interface MarkdownRequest {
  id: number;
  from: number;
  text?: string;
}

export interface MarkdownReply {
  id: number;
  change: BlockChange;
}

const open = new Map<number, { text: string; reader: BlockReader }>();

addEventListener('message', ({ data }: MessageEvent<MarkdownRequest>) => {
  const { id, from, text } = data;
  if (text === undefined) return void open.delete(id);
  const known = open.get(id) ?? { text: '', reader: createBlockReader() };
  known.text = known.text.slice(0, from) + text;
  open.set(id, known);
  const reply: MarkdownReply = { id, change: known.reader.read(known.text) };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
  postMessage(reply);
});
