/**
 * Media that a session keeps as files, as a model request carries them: their bytes where the model takes such media,
 * else the path, which an agent can read with its tools.
 */
import { sniffImage } from '#server/files/media-types.ts';
import { storedMediaId } from '#server/journal/stored-media.ts';
import type { ProtocolName, ResolvedModel } from '#server/models/types.ts';
import { openSessionMedia } from '#server/uploads/session-media.ts';
import type { ContextMessage, Part } from '#schema/engine.ts';

/** What is sent inline at most; a larger one is named by its path. */
const INLINE_BYTES = 20 * 1024 * 1024;
/** Images up to this size stay in memory between requests, of all sessions together so much. */
const CACHED_IMAGE_BYTES = 8 * 1024 * 1024;
const CACHE_BYTES = 64 * 1024 * 1024;

/** Those that have a place for the bytes of a video. */
const VIDEO_PROTOCOLS: ReadonlySet<ProtocolName> = new Set<ProtocolName>(['google-genai', 'native']);

export interface StoredMediaReader {
  /** The same messages where none names a stored file. */
  resolve(messages: ContextMessage[], sessionDir: string, model: RequestModel): Promise<ContextMessage[]>;
}

type RequestModel = Pick<ResolvedModel, 'capabilities' | 'protocol'>;
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

/** Creates it with an empty cache. */
export function createStoredMediaReader(): StoredMediaReader {
  /** Data URLs by session and id, the one used last at the end. */
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

  async function read({ kind, id }: Reference, sessionDir: string, { capabilities, protocol }: RequestModel) {
    const taken = capabilities.has(`${kind}_in`) && (kind === 'image' || VIDEO_PROTOCOLS.has(protocol));
    const key = `${sessionDir}/${id}`;
    const known = taken && kind === 'image' ? recall(key) : undefined;
    if (known !== undefined) return imagePart(known);
    const opened = await openSessionMedia(sessionDir, id);
    if (!opened) return unavailable(kind);
    const { record, file, size } = opened;
    try {
      if (!taken || size > INLINE_BYTES) return pathTag(kind, record.path);
      const bytes = await file.readFile();
      // What it was declared as says nothing of what providers make of the bytes.
      const type = kind === 'image' ? sniffImage(bytes) : record.media_type;
      if (type === undefined) return pathTag(kind, record.path);
      const url = `data:${type};base64,${bytes.toString('base64')}`;
      if (kind === 'video') return { type: 'video_url', videoUrl: { url } } satisfies Part;
      if (size <= CACHED_IMAGE_BYTES) remember(key, url);
      return imagePart(url);
    } finally {
      await file.close();
    }
  }

  return {
    async resolve(messages, sessionDir, model) {
      if (!messages.some(({ content }) => content.some(referenceOf))) return messages;
      const resolved: ContextMessage[] = [];
      for (const message of messages) {
        const content: Part[] = [];
        // One after the other: no more than one file is being read.
        for (const part of message.content) {
          const reference = referenceOf(part);
          content.push(reference ? await read(reference, sessionDir, model) : part);
        }
        resolved.push({ ...message, content });
      }
      return resolved;
    },
  };
}

const imagePart = (url: string): Part => ({ type: 'image_url', imageUrl: { url } });
