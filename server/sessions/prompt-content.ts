/**
 * Turns the content of a submitted prompt into what is stored, what the model sees and what replies show. Checks change
 * nothing; `storePromptMedia` writes the files the prompt needs.
 */
import { createHash } from 'node:crypto';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { PromptInput } from '#server/agent/prompt-queue.ts';
import { invalidField, ServiceError } from '#server/errors/service-error.ts';
import type { Attachment } from '#server/journal/records.ts';
import type { Whole } from '#server/journal/texts.ts';
import type { ContentPart } from '#schema/content.ts';
import type { Part } from '#schema/engine.ts';
import { writeFileAtomic } from '#server/files/atomic-write.ts';
import { parseDataUrl } from '#server/files/data-url.ts';
import { acceptedImageTypes, sniffImage, unsupportedImageUrl } from '#server/files/media-types.ts';

/** URLs of stored media inside the journal; clients must not send them. */
const INTERNAL_SCHEME = 'service-file:';

const usable = (part: ContentPart) => !['tool_use', 'tool_result', 'thinking'].includes(part.type);

/** References to uploads, in content order: the server takes none, so none is found. */
export function checkUploads(content: ContentPart[]): void {
  for (const part of content) {
    const id =
      part.type === 'file' ? part.file_id : 'source' in part && part.source.kind === 'file' && part.source.file_id;
    if (id) throw new ServiceError('file.not_found', `file not found: ${id}`);
  }
}

/** Refuses media of the session, internal URLs, and content that says nothing. */
export function checkContent(content: ContentPart[]): void {
  for (const part of content) {
    if ('source' in part && part.source.kind === 'session_media') {
      throw new ServiceError('file.not_found', `file not found: ${part.source.file_id}`);
    }
  }
  content.forEach((part, index) => {
    if ('source' in part && part.source.kind === 'url' && part.source.url.toLowerCase().startsWith(INTERNAL_SCHEME)) {
      throw invalidField(`content.${index}.source.url`, 'must not be an internal media address');
    }
  });
  if (!content.some(usable)) throw invalidField('content', 'prompt has no usable content');
}

type MediaPart = Extract<ContentPart, { type: 'image' | 'video' }>;
type MediaUrl = { url: string; id?: string };

const textContent = (text: string): { shown: ContentPart; part: Part } => ({
  shown: { type: 'text', text },
  part: { type: 'text', text },
});

const mediaPart = (kind: 'image' | 'video', url: MediaUrl): Part =>
  kind === 'image' ? { type: 'image_url', imageUrl: url } : { type: 'video_url', videoUrl: url };

/** Stores the parts' files in the session's folder and returns the prompt in its three forms. */
export async function storePromptMedia(content: ContentPart[], sessionDir: string): Promise<Whole<PromptInput>> {
  const written: string[] = [];
  try {
    const input: Whole<PromptInput> = { content: [], eventContent: [], parts: [], text: '', attachments: [] };
    for (const part of content.filter(usable)) {
      const { shown, part: stored } = await intake(part, sessionDir, written);
      input.content.push(shown);
      input.parts.push(stored);
      if (shown.type === 'image' || shown.type === 'video') {
        const inline = shown.source.kind === 'base64';
        input.eventContent.push(inline ? { type: 'text', text: `[${shown.type}]` } : shown);
        input.attachments.push(attachment(shown));
      } else {
        input.eventContent.push(shown);
      }
    }
    input.text = input.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
    return input;
  } catch (error) {
    await Promise.all(written.map((path) => rm(path, { force: true })));
    if (error instanceof ServiceError) throw error;
    throw new ServiceError('persistence.failure', 'the media of the prompt could not be stored', { cause: error });
  }
}

function attachment(part: MediaPart): Attachment {
  const { source } = part;
  if (source.kind === 'base64') return { mediaType: source.media_type };
  if (source.kind === 'url') return { mediaType: `${part.type}/*`, source: { kind: 'url', url: source.url } };
  return { mediaType: `${part.type}/*`, source: { kind: source.kind, fileId: source.file_id } };
}

async function intake(part: ContentPart, sessionDir: string, written: string[]) {
  if (part.type === 'text') return textContent(part.text);
  if (part.type !== 'image' && part.type !== 'video') throw new Error(`unexpected part ${part.type}`);
  const { source } = part;
  if (source.kind === 'url') {
    const unsupported = part.type === 'image' ? unsupportedImageUrl(source.url) : undefined;
    if (unsupported) {
      return textContent(`Image at ${source.url} has the unsupported type ${unsupported} and was not attached.`);
    }
    const inline = parseDataUrl(source.url);
    const shown: ContentPart = inline
      ? { type: part.type, source: { kind: 'base64', media_type: inline.mimeType, data: inline.data } }
      : part;
    return { shown, part: mediaPart(part.type, { url: source.url, ...(source.id ? { id: source.id } : {}) }) };
  }
  if (source.kind !== 'base64') throw new Error(`unexpected source ${source.kind}`);
  if (part.type === 'video') {
    return { shown: part, part: mediaPart('video', { url: `data:${source.media_type};base64,${source.data}` }) };
  }
  const bytes = Buffer.from(source.data, 'base64');
  const type = sniffImage(bytes) ?? source.media_type.toLowerCase();
  if (!acceptedImageTypes.has(type)) return textContent(await storeAttachment(bytes, type, sessionDir, written));
  return {
    shown: { type: 'image', source: { kind: 'base64', media_type: type, data: source.data } } satisfies ContentPart,
    part: mediaPart('image', { url: `data:${type};base64,${source.data}` }),
  };
}

/** Keeps an image that no model takes as a file the agent can read, and says so in its place. */
async function storeAttachment(bytes: Buffer, type: string, sessionDir: string, written: string[]): Promise<string> {
  const { default: mime } = await import('mime');
  const stem = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
  const name = `${stem}-image.${mime.getExtension(type) ?? 'bin'}`;
  const path = join(sessionDir, 'attachments', name);
  const present = await stat(path).catch(() => undefined);
  // An earlier prompt's copy is reused, and stays when this prompt fails.
  if (present?.size !== bytes.length) {
    await mkdir(join(sessionDir, 'attachments'), { recursive: true });
    await writeFileAtomic(path, bytes);
    written.push(path);
  }
  return `Attached file "${name}" (${type}, ${bytes.length} bytes): ${path} — this image type cannot be shown to the model.`;
}
