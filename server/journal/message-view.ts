/** The REST view of a message, derived from the record that contains its body. */
import type { ContentPart, MediaSource } from '#schema/rest/content.ts';
import type { ContextMessage, Part, ToolCall } from '#schema/engine.ts';
import type { Message } from '#schema/rest/message.ts';
import { shownArguments } from '#server/text/tool-arguments.ts';
import { outputParts } from './projections/context.ts';
import type { JournalRecord } from './records.ts';
import { storedMediaId } from './stored-media.ts';
import type { Stored } from './texts.ts';
import { withoutSkillBlocks } from './typed-prompts.ts';

/** The message in a record; `message` is its index in a splice. Empty for a step without a response. */
export function messageOf(record: JournalRecord | undefined, message = 0): Stored<ContextMessage> {
  const empty = { role: 'assistant' as const, content: [], toolCalls: [] };
  switch (record?.type) {
    case 'context.spliced':
      return record.messages[message] ?? empty;
    case 'step.response':
      return { role: 'assistant', content: record.parts, toolCalls: record.partial ? [] : record.calls };
    case 'tool.result': {
      const { toolCallId, isError } = record;
      const content = outputParts(record.output);
      return { role: 'tool', content, toolCalls: [], toolCallId, ...(isError ? { isError } : {}) };
    }
    default:
      return empty;
  }
}

/** The members that clients receive of a message whose texts are loaded. */
export function shownMessage(message: ContextMessage): Pick<Message, 'content' | 'metadata'> {
  const content =
    message.role === 'tool'
      ? [toolResult(message.toolCallId ?? '', message.content, message.isError)]
      : [...withoutSkillBlocks(message.content, message.origin).map(contentPart), ...message.toolCalls.map(toolUse)];
  return { content, ...(message.origin ? { metadata: { origin: message.origin } } : {}) };
}

const toolResult = (id: string, parts: Part[], isError: boolean | undefined): ContentPart => ({
  type: 'tool_result',
  tool_call_id: id,
  output: shownOutput(parts),
  ...(isError ? { is_error: true } : {}),
});

const toolUse = (call: ToolCall): ContentPart => ({
  type: 'tool_use',
  tool_call_id: call.id,
  tool_name: call.name,
  input: shownArguments(call.arguments),
});

function shownOutput(parts: Part[]): unknown {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length === parts.length ? texts.join('') : parts;
}

function contentPart(part: Part): ContentPart {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'think': {
      const signature = part.encrypted === undefined ? {} : { signature: part.encrypted };
      return { type: 'thinking', thinking: part.think, ...signature };
    }
    case 'image_url':
      return { type: 'image', source: source(part.imageUrl) };
    case 'video_url':
      return { type: 'video', source: source(part.videoUrl) };
    case 'audio_url':
      return { type: 'text', text: `[audio:${part.audioUrl.url}]` };
  }
}

function source({ url, id }: { url: string; id?: string | undefined }): MediaSource {
  const stored = storedMediaId(url);
  if (stored !== undefined) return { kind: 'session_media', file_id: stored };
  return { kind: 'url', url, ...(id === undefined ? {} : { id }) };
}
