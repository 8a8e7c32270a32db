/** Converts a transcript to the form that clients receive: complete, bounded texts. All texts are loaded already. */
import type { ContentPart } from '#schema/rest/content.ts';
import type { Frame, Item, Step, TranscriptAttachment, TranscriptPrompt } from '#schema/rest/transcript.ts';
import type { TranscriptOp } from '#schema/rest/transcript-ops.ts';
import type { StoredValue, StoredFrame, StoredItem, StoredOp, StoredStep, StoredToolFrame } from './reducer/state.ts';

/** Most UTF-16 units of an output's text. */
export const OUTPUT_CHARS = 65_536;

/** A loaded text: one string, or the parts of one. */
export const shownText = (text: string | object): string =>
  typeof text === 'string' ? text : Object.values(text).map(String).join('');

function boundedText(text: string): string {
  if (text.length <= OUTPUT_CHARS) return text;
  return `${text.slice(0, OUTPUT_CHARS)}\n… [${text.length - OUTPUT_CHARS} characters left out]`;
}

const isTextPart = (part: unknown): part is { type: 'text'; text: string } =>
  typeof part === 'object' && part !== null && 'text' in part && typeof part.text === 'string';

function boundedOutput(output: unknown): unknown {
  if (typeof output === 'string') return boundedText(output);
  if (!Array.isArray(output)) return output;
  return output.map((part: unknown) => (isTextPart(part) ? { ...part, text: boundedText(part.text) } : part));
}

function shownTool(frame: StoredToolFrame): Frame {
  if (frame.output === undefined) return frame;
  const output = boundedOutput(frame.output);
  const error = frame.state === 'error' && typeof output === 'string' ? { error: output } : {};
  return { ...frame, output, ...error };
}

export function shownFrame(frame: StoredFrame): Frame {
  switch (frame.kind) {
    case 'text':
    case 'thinking':
      return { ...frame, text: shownText(frame.text) };
    case 'tool':
      return shownTool(frame);
    case 'notice':
      return frame;
  }
}

const shownStep = (step: StoredStep): Step => ({ ...step, frames: step.frames.map(shownFrame) });

export function shownItem(item: StoredItem): Item {
  if (item.kind !== 'turn') return item;
  return { ...withPrompt(item), steps: item.steps.map(shownStep) };
}

function withPrompt<T extends { prompt?: string | object | undefined }>({ prompt, ...turn }: T) {
  return { ...turn, ...(prompt === undefined ? {} : { prompt: shownText(prompt) }) };
}

export function shownAttachment({ source, ...attachment }: StoredValue<TranscriptAttachment>): TranscriptAttachment {
  if (!source) return attachment;
  return { ...attachment, source: source.kind === 'url' ? { ...source, url: shownText(source.url) } : source };
}

function shownPart(part: StoredValue<ContentPart>): ContentPart {
  switch (part.type) {
    case 'text':
      return { ...part, text: shownText(part.text) };
    case 'image':
    case 'video': {
      const { source } = part;
      return { ...part, source: source.kind === 'url' ? { ...source, url: shownText(source.url) } : source };
    }
    default:
      return part;
  }
}

export function shownPrompt({ content, ...prompt }: StoredValue<TranscriptPrompt>): TranscriptPrompt {
  return { ...prompt, ...(content ? { content: content.map(shownPart) } : {}) };
}

export function shownOp(op: StoredOp): TranscriptOp {
  switch (op.op) {
    case 'turn.upsert':
      return { ...op, turn: withPrompt(op.turn) };
    case 'frame.upsert':
      return { ...op, frame: shownFrame(op.frame) };
    case 'append':
      return { ...op, text: shownText(op.text) };
    case 'attachment.upsert':
      return { ...op, attachment: shownAttachment(op.attachment) };
    case 'prompt.upsert':
      return { ...op, prompt: shownPrompt(op.prompt) };
    default:
      return op;
  }
}
