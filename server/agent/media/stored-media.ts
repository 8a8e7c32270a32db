/**
 * Resolves media that a session stores as files for a model request: to their bytes if the model accepts them, else to
 * the path, which an agent can read with its tools.
 */
import { sniffImage } from '#server/files/media-types.ts';
import { storedMediaId } from '#server/journal/stored-media.ts';
import type { Logger } from '#server/logging/log.ts';
import {
  ModelError,
  PROVIDER_FILE_SCHEME,
  type ModelErrorCode,
  type ProtocolName,
  type ResolvedModel,
} from '#server/models/types.ts';
import { uploadsVideo, VIDEO_MAX_BYTES, type VideoUploads } from '#server/models/video-uploads.ts';
import { openSessionMedia, type OpenMedia } from '#server/uploads/session-media.ts';
import type { ContextMessage, Part } from '#schema/engine.ts';

/** Size limit of inline media; a larger file is represented by its path. */
const INLINE_BYTES = 20 * 1024 * 1024;
/** Images up to this size are cached between requests; the second constant is the limit for all sessions together. */
const CACHED_IMAGE_BYTES = 8 * 1024 * 1024;
const CACHE_BYTES = 64 * 1024 * 1024;

/** Protocols that accept the bytes of a video. */
/** The provider refuses the credential, so the request of the turn would fail too. */
const DENIALS: ReadonlySet<ModelErrorCode> = new Set<ModelErrorCode>([
  'provider.auth_error',
  'auth.login_required',
  'auth.token_missing',
]);

const INLINE_VIDEO: ReadonlySet<ProtocolName> = new Set<ProtocolName>(['google-genai']);

export interface StoredMediaReader {
  /**
   * Returns the same messages if none references a stored file. Throws the `ModelError` of a provider that denies the
   * upload of a video; on abort the signal's reason.
   */
  resolve(messages: ContextMessage[], place: MediaRequest): Promise<ContextMessage[]>;
}

/** Session folder, model and signal of a request. */
export interface MediaRequest {
  sessionDir: string;
  model: ResolvedModel;
  signal: AbortSignal;
}

type Kind = 'image' | 'video';

interface Reference {
  kind: Kind;
  id: string;
}

function referenceOf(part: Part): Reference | undefined {
  const [kind, url] =
    part.type === 'image_url'
      ? (['image', part.imageUrl.url] as const)
      : part.type === 'video_url'
        ? (['video', part.videoUrl.url] as const)
        : [];
  const id = url === undefined ? undefined : storedMediaId(url);
  return kind === undefined || id === undefined ? undefined : { kind, id };
}

const pathTag = (kind: Kind, path: string): Part => ({ type: 'text', text: `<${kind} path="${path}"></${kind}>` });
const unavailable = (kind: Kind): Part => ({ type: 'text', text: `[${kind} unavailable: its file is gone]` });

/** Reference to a video that was uploaded to some provider; undefined for any other part. */
function providerFileOf(part: Part): string | undefined {
  if (part.type !== 'video_url') return undefined;
  const { url } = part.videoUrl;
  return url.startsWith(`${PROVIDER_FILE_SCHEME}//`) ? url.slice(PROVIDER_FILE_SCHEME.length + 2) : undefined;
}

const ELSEWHERE: Part = { type: 'text', text: '[video left out: this model has not been given it; read it again]' };

/** Creates the reader with an empty cache. */
export function createStoredMediaReader({ videos, log }: { videos: VideoUploads; log: Logger }): StoredMediaReader {
  /** LRU cache of data URLs by session and id, the most recently used last. */
  const images = new Map<string, string>();
  let cached = 0;

  function remember(key: string, url: string): void {
    images.set(key, url);
    cached += url.length;
    for (const [oldest, { length }] of images) {
      if (cached <= CACHE_BYTES) return;
      images.delete(oldest);
      cached -= length;
    }
  }

  function recall(key: string): string | undefined {
    const url = images.get(key);
    if (url === undefined) return undefined;
    images.delete(key);
    images.set(key, url);
    return url;
  }

  /** Returns undefined if the provider does not accept the video now. */
  async function uploaded(
    { record: { path, media_type }, file, size }: OpenMedia,
    { model, signal }: MediaRequest,
  ): Promise<Part | undefined> {
    if (size > VIDEO_MAX_BYTES) return undefined;
    const { mtimeMs } = await file.stat();
    try {
      const video = { path, type: media_type, size, mtimeMs, read: () => file.readFile() };
      return { type: 'video_url', videoUrl: await videos.addressOf(model, video, signal) };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ModelError && DENIALS.has(error.details.code)) throw error;
      log.warn('a video could not be given to the provider; the model is told its path', { err: error });
      return undefined;
    }
  }

  async function read({ kind, id }: Reference, place: MediaRequest): Promise<Part> {
    const { sessionDir, model } = place;
    const { capabilities, protocol } = model;
    const taken = capabilities.has(`${kind}_in`) && (kind === 'image' || INLINE_VIDEO.has(protocol));
    const key = `${sessionDir}/${id}`;
    const known = taken && kind === 'image' ? recall(key) : undefined;
    if (known !== undefined) return imagePart(known);
    const opened = await openSessionMedia(sessionDir, id);
    if (!opened) return unavailable(kind);
    const { record, file, size } = opened;
    try {
      if (kind === 'video' && uploadsVideo(model)) return (await uploaded(opened, place)) ?? pathTag(kind, record.path);
      if (!taken || size > INLINE_BYTES) return pathTag(kind, record.path);
      const bytes = await file.readFile();
      // Providers go by the bytes, not by the declared type.
      const type = kind === 'image' ? sniffImage(bytes) : record.media_type;
      if (type === undefined) return pathTag(kind, record.path);
      const url = `data:${type};base64,${bytes.toString('base64')}`;
      if (kind === 'video') return { type: 'video_url', videoUrl: { url } };
      if (size <= CACHED_IMAGE_BYTES) remember(key, url);
      return imagePart(url);
    } finally {
      await file.close();
    }
  }

  return {
    async resolve(messages, place) {
      const concerns = (part: Part) => referenceOf(part) !== undefined || providerFileOf(part) !== undefined;
      if (!messages.some(({ content }) => content.some(concerns))) return messages;
      const resolved: ContextMessage[] = [];
      for (const message of messages) {
        const content: Part[] = [];
        // Sequential, so that only one file is read at a time.
        for (const part of message.content) {
          const reference = referenceOf(part);
          const given = providerFileOf(part);
          if (reference) content.push(await read(reference, place));
          else content.push(given === undefined || (await videos.knows(place.model, given)) ? part : ELSEWHERE);
        }
        resolved.push({ ...message, content });
      }
      return resolved;
    },
  };
}

const imagePart = (url: string): Part => ({ type: 'image_url', imageUrl: { url } });
