/**
 * Converts the content of a submitted prompt into its three forms: the stored one, the model's and that of replies. The
 * checks have no effects; `storePromptMedia` writes the files that the prompt needs.
 */
import { createHash } from 'node:crypto';
import { mkdir, open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { reminderText } from '#server/agent/prompt/reminders.ts';
import { invalidField, ServiceError } from '#server/errors/service-error.ts';
import type { Attachment } from '#server/journal/records.ts';
import { STORED_MEDIA_SCHEME, storedMediaUrl } from '#server/journal/stored-media.ts';
import type { Whole } from '#server/journal/texts.ts';
import type { ContentPart } from '#schema/rest/content.ts';
import type { Part } from '#schema/engine.ts';
import { writeFileAtomic } from '#server/files/atomic-write.ts';
import { parseDataUrl } from '#server/files/data-url.ts';
import {
  acceptedImageTypes,
  mediaType,
  SIGNATURE_BYTES,
  sniffImage,
  unsupportedImageUrl,
} from '#server/files/media-types.ts';
import { DECODE_BYTES } from '#server/images/decoder.ts';
import type { Fitted, Images } from '#server/images/images.ts';
import { caption, keepOriginal } from '#server/images/originals.ts';
import {
  attachMedia,
  findSessionMedia,
  keepMade,
  keepUpload,
  type SessionMedia,
} from '#server/uploads/session-media.ts';
import type { Uploads } from '#server/uploads/uploads.ts';
import type { PromptInput } from '#server/agent/contract/prompts.ts';

const usable = (part: ContentPart) => !['tool_use', 'tool_result', 'thinking'].includes(part.type);

const notFound = (id: string) => new ServiceError('file.not_found', `file not found: ${id}`);

/** Returns the id of the upload that a part references, if any. */
function uploadOf(part: ContentPart): string | undefined {
  if (part.type === 'file') return part.file_id;
  return 'source' in part && part.source.kind === 'file' ? part.source.file_id : undefined;
}

/**
 * Checks that each referenced upload exists, and that those of images and videos have that media type. Throws
 * `file.not_found`.
 */
export async function checkUploads(content: ContentPart[], uploads: Pick<Uploads, 'find'>): Promise<void> {
  for (const part of content) {
    const id = uploadOf(part);
    if (id === undefined) continue;
    const upload = await uploads.find(id);
    if (!upload) throw notFound(id);
    if (part.type === 'file' || upload.media_type.toLowerCase().startsWith(`${part.type}/`)) continue;
    const what = part.type === 'image' ? 'an image' : 'a video';
    throw new ServiceError('file.not_found', `file ${id} is ${upload.media_type}, not ${what}`);
  }
}

/**
 * Rejects references to media that the session does not have (`file.not_found`) and internal URLs
 * (`validation.failed`). `field` is the member of the request that has the parts.
 */
export async function checkSessionMedia(content: ContentPart[], sessionDir: string, field: string): Promise<void> {
  for (const part of content) {
    if (!('source' in part) || part.source.kind !== 'session_media') continue;
    if (!(await findSessionMedia(sessionDir, part.source.file_id))) throw notFound(part.source.file_id);
  }
  content.forEach((part, index) => {
    if (
      'source' in part &&
      part.source.kind === 'url' &&
      part.source.url.toLowerCase().startsWith(STORED_MEDIA_SCHEME)
    ) {
      throw invalidField(`${field}.${index}.source.url`, 'must not be an internal media address');
    }
  });
}

/** Like `checkSessionMedia`, for the content of a prompt; rejects unusable content too. */
export async function checkContent(content: ContentPart[], sessionDir: string): Promise<void> {
  await checkSessionMedia(content, sessionDir, 'content');
  if (!content.some(usable)) throw invalidField('content', 'prompt has no usable content');
}

type MediaPart = Extract<ContentPart, { type: 'image' | 'video' }>;
type MediaUrl = { url: string; id?: string };

/** Sources and target folder of a prompt's files. */
export interface MediaServices {
  uploads: Pick<Uploads, 'open' | 'copy'>;
  images: Pick<Images, 'fit'>;
  sessionDir: string;
}

interface Intake extends MediaServices {
  /** Files created for this prompt, which are removed if it cannot be stored. */
  written: string[];
}

/** The forms of one converted part. */
interface Taken {
  shown: ContentPart;
  part: Part;
  attachment?: Attachment;
  /** Note for the model, such as the original size of a reduced image. */
  caption?: string;
}

const textContent = (text: string): Taken => ({ shown: { type: 'text', text }, part: { type: 'text', text } });

const mediaPart = (kind: 'image' | 'video', url: MediaUrl): Part =>
  kind === 'image' ? { type: 'image_url', imageUrl: url } : { type: 'video_url', videoUrl: url };

/** Stores the parts' files in the session's folder and returns the prompt in its three forms. */
export async function storePromptMedia(content: ContentPart[], place: MediaServices): Promise<Whole<PromptInput>> {
  const written: string[] = [];
  try {
    const input: Whole<PromptInput> = { content: [], eventContent: [], parts: [], text: '', attachments: [] };
    const captions: string[] = [];
    for (const part of content.filter(usable)) {
      const { shown, part: stored, attachment, caption: captionText } = await intake(part, { ...place, written });
      input.content.push(shown);
      input.parts.push(stored);
      const inline = 'source' in shown && shown.source.kind === 'base64';
      input.eventContent.push(inline ? { type: 'text', text: `[${shown.type}]` } : shown);
      if (attachment) input.attachments.push(attachment);
      if (captionText !== undefined) captions.push(captionText);
    }
    input.text = input.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
    if (captions.length > 0) input.caption = reminderText(captions.join('\n'));
    return input;
  } catch (error) {
    await Promise.all(written.map((path) => rm(path, { force: true })));
    if (error instanceof ServiceError) throw error;
    throw new ServiceError('persistence.failure', 'the media of the prompt could not be stored', { cause: error });
  }
}

async function intake(part: ContentPart, to: Intake): Promise<Taken> {
  switch (part.type) {
    case 'text':
      return textContent(part.text);
    case 'file':
      return textContent(await attachedFile(await kept(part.file_id, to), to));
    case 'image':
    case 'video':
      return intakeMedia(part, to);
    default:
      throw new Error(`unexpected part ${part.type}`);
  }
}

async function intakeMedia(part: MediaPart, to: Intake): Promise<Taken> {
  const { source } = part;
  switch (source.kind) {
    case 'url':
      return intakeUrl(part, source);
    case 'base64':
      return part.type === 'image' ? intakeImage(source, to) : inlineMedia('video', source.media_type, source.data);
    case 'file': {
      const smaller = part.type === 'image' ? await smallerUpload(source.file_id, to) : undefined;
      if (smaller) return smaller;
      const media = await kept(source.file_id, to);
      const unsupported = part.type === 'image' ? await unsupportedType(media) : undefined;
      if (unsupported === undefined) return storedMedia(part.type, media);
      return textContent(`${await attachedFile(media, to, unsupported)}${NOT_SHOWN}`);
    }
    case 'session_media': {
      const media = await findSessionMedia(to.sessionDir, source.file_id);
      if (!media) throw notFound(source.file_id);
      return storedMedia(part.type, media);
    }
  }
}

async function kept(id: string, { uploads, sessionDir, written }: Intake): Promise<SessionMedia> {
  const media = await keepUpload(uploads, sessionDir, id, written);
  // The upload was removed after the references were checked.
  if (!media) throw notFound(id);
  return media;
}

function intakeUrl(part: MediaPart, { url, id }: MediaUrl & { id?: string | undefined }): Taken {
  const unsupported = part.type === 'image' ? unsupportedImageUrl(url) : undefined;
  if (unsupported) {
    return textContent(`Image at ${url} has the unsupported type ${unsupported} and was not attached.`);
  }
  const stored = mediaPart(part.type, { url, ...(id ? { id } : {}) });
  const inline = parseDataUrl(url);
  if (inline) return { ...inlineMedia(part.type, inline.mimeType, inline.data), part: stored };
  const attachment: Attachment = { mediaType: `${part.type}/*`, source: { kind: 'url', url } };
  return { shown: part, part: stored, attachment };
}

function inlineMedia(type: MediaPart['type'], media_type: string, data: string): Taken {
  return {
    shown: { type, source: { kind: 'base64', media_type, data } },
    part: mediaPart(type, { url: `data:${media_type};base64,${data}` }),
    attachment: { mediaType: media_type },
  };
}

function storedMedia(type: MediaPart['type'], { id, name, media_type, size }: SessionMedia): Taken {
  return {
    shown: { type, source: { kind: 'session_media', file_id: id } },
    part: mediaPart(type, { url: storedMediaUrl(id) }),
    attachment: { mediaType: media_type, name, size, source: { kind: 'session_media', fileId: id } },
  };
}

async function intakeImage({ media_type, data }: { media_type: string; data: string }, to: Intake): Promise<Taken> {
  const bytes = Buffer.from(data, 'base64');
  const type = sniffImage(bytes) ?? media_type.toLowerCase();
  if (!acceptedImageTypes.has(type)) return textContent(await storeAttachment(bytes, type, to));
  const fitted = await to.images.fit(async () => bytes);
  if (!fitted?.smaller) return inlineMedia('image', type, data);
  const { smaller } = fitted;
  return {
    ...inlineMedia('image', smaller.type, smaller.data.toString('base64')),
    caption: await captionOf(fitted, to),
  };
}

/** Stores a reduced copy of an uploaded image as session media under a new id; undefined if the image fits. */
async function smallerUpload(id: string, to: Intake): Promise<Taken | undefined> {
  const upload = await to.uploads.open(id);
  if (!upload) throw notFound(id);
  const { file, record } = upload;
  try {
    if (upload.size > DECODE_BYTES) return undefined;
    const fitted = await to.images.fit(() => file.readFile());
    if (!fitted?.smaller) return undefined;
    const captionText = await captionOf(fitted, to);
    const media = await keepMade(to.sessionDir, { ...fitted.smaller, name: record.name }, to.written);
    return { ...storedMedia('image', media), caption: captionText };
  } finally {
    await file.close();
  }
}

const captionOf = async (fitted: Fitted, { sessionDir, written }: Intake): Promise<string> =>
  caption(fitted, await keepOriginal(sessionDir, fitted.original, { written }));

/**
 * Returns the type of an image that no model accepts, else undefined. The detected type has precedence over the
 * declared one.
 */
async function unsupportedType({ path, media_type }: SessionMedia): Promise<string | undefined> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SIGNATURE_BYTES), 0, SIGNATURE_BYTES, 0);
    const type = mediaType(buffer.subarray(0, bytesRead)) ?? media_type.toLowerCase();
    return acceptedImageTypes.has(type) ? undefined : type;
  } finally {
    await file.close();
  }
}

const NOT_SHOWN = ' — this image type cannot be shown to the model.';
const notice = (name: string, type: string, size: number, path: string) =>
  `Attached file "${name.replace(/\p{Cc}+/gu, ' ')}" (${type}, ${size} bytes): ${path}`;

/** Copies an upload to a path that the agent can read; returns a notice with that path. */
async function attachedFile(media: SessionMedia, to: Intake, type = media.media_type): Promise<string> {
  return notice(media.name, type, media.size, await attachMedia(to.sessionDir, media, to.written));
}

/** Stores an image that no model accepts as a file that the agent can read; returns a notice that replaces it. */
async function storeAttachment(bytes: Buffer, type: string, { sessionDir, written }: Intake): Promise<string> {
  const { default: mime } = await import('mime');
  const stem = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
  const name = `${stem}-image.${mime.getExtension(type) ?? 'bin'}`;
  const path = join(sessionDir, 'attachments', name);
  const present = await stat(path).catch(() => undefined);
  // An earlier prompt's copy is reused, and must not be removed if this prompt fails.
  if (present?.size !== bytes.length) {
    await mkdir(join(sessionDir, 'attachments'), { recursive: true });
    await writeFileAtomic(path, bytes);
    written.push(path);
  }
  return `${notice(name, type, bytes.length, path)}${NOT_SHOWN}`;
}
