/** Video uploads to providers, deduplicated by file across the server processes of a home. */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { createSerialQueue } from '#server/async/keyed-queue.ts';
import type { Documents } from '#server/storage/documents.ts';
import type { ModelClient } from './stream.ts';
import { PROVIDER_FILE_SCHEME, type ProtocolName, type ResolvedModel } from './types.ts';

/** Protocols that accept videos as uploaded files. */
const UPLOADING: ReadonlySet<ProtocolName> = new Set<ProtocolName>(['native']);

/** Upper limit of an upload, in bytes. */
export const VIDEO_MAX_BYTES = 100 * 1024 * 1024;

const uploadSchema = z.object({ id: z.string() });

/** A file of this machine. */
export interface VideoFile {
  path: string;
  type: string;
  size: number;
  mtimeMs: number;
  read(): Promise<Uint8Array>;
}

type Provider = Pick<ResolvedModel, 'providerId' | 'baseUrl' | 'protocol' | 'capabilities'>;

export interface VideoUploads {
  /** Address of the video at the model's provider; uploads it if necessary. Rejects as `uploadVideo` of the client. */
  addressOf(model: ResolvedModel, video: VideoFile, signal: AbortSignal): Promise<{ url: string; id: string }>;
  /** Whether an id exists at the model's provider. */
  knows(model: Provider, id: string): Promise<boolean>;
}

/** Whether videos can be uploaded for the model. */
export const uploadsVideo = ({ capabilities, protocol }: Pick<ResolvedModel, 'capabilities' | 'protocol'>): boolean =>
  capabilities.has('video_in') && UPLOADING.has(protocol);

function keyOf({ providerId, baseUrl }: Provider, ...facts: (string | number)[]): string {
  const hash = createHash('sha256').update(JSON.stringify([providerId, baseUrl, ...facts]));
  return `cache:provider-files:${hash.digest('hex')}.json`;
}

export interface VideoUploadsDeps {
  client: Pick<ModelClient, 'uploadVideo'>;
  documents: Pick<Documents, 'get' | 'set'>;
}

export function createVideoUploads({ client, documents }: VideoUploadsDeps): VideoUploads {
  /** Serializes uploads: only one video is in memory, and a waiting upload of the same file finds its id. */
  const uploads = createSerialQueue();
  const idAt = async (key: string) => (await documents.get(key, uploadSchema))?.id;

  async function upload(model: ResolvedModel, video: VideoFile, signal: AbortSignal): Promise<string> {
    const { path, type, size, mtimeMs } = video;
    const key = keyOf(model, 'file', path, size, mtimeMs);
    const known = await idAt(key);
    if (known !== undefined) return known;
    signal.throwIfAborted();
    const id = await client.uploadVideo({ model, type, data: await video.read(), signal });
    await documents.set(keyOf(model, 'id', id), uploadSchema, { id });
    await documents.set(key, uploadSchema, { id });
    return id;
  }

  return {
    async addressOf(model, video, signal) {
      const id = await uploads.run(() => upload(model, video, signal));
      return { url: `${PROVIDER_FILE_SCHEME}//${id}`, id };
    },
    async knows(model, id) {
      if (!uploadsVideo(model)) return false;
      // An unreadable document is treated as missing.
      const known = await idAt(keyOf(model, 'id', id)).catch(() => undefined);
      return known !== undefined;
    },
  };
}
