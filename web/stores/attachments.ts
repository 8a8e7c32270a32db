/** Attachments of the next prompt: each file is uploaded as soon as it is selected and the server answers. */
import { computed, shallowRef } from 'vue';
import { ConnectionError, type ContentPart, type Rest, type Socket, type Upload } from '@service-code/client';
import type { StoredFile } from './draft-storage.ts';

export interface Attachment {
  key: number;
  name: string;
  /** Displayed instead of the name, for images that browsers and models support. */
  preview: string | undefined;
  /** `waiting`: for the connection. */
  state:
    | { kind: 'waiting' }
    | { kind: 'uploading'; percent: number }
    | { kind: 'ready'; upload: Upload }
    | { kind: 'failed'; error: unknown };
  /** For the browser's storage. */
  file: StoredFile;
}

/** Image types that models accept; all others are sent as files. */
const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
/** Expiry of uploads: a prompt that is still unsent a day later needs its files again. */
const KEPT_S = 86_400;

export type Attachments = ReturnType<typeof createAttachments>;

export interface AttachmentDeps {
  rest: Pick<Rest, 'upload' | 'deleteUpload'>;
  socket: Pick<Socket, 'connection' | 'onConnection'>;
}

/** Creates an empty list. */
export function createAttachments({ rest, socket }: AttachmentDeps) {
  const list = shallowRef<readonly Attachment[]>([]);
  /** Cancel the running uploads, by key. */
  const uploads = new Map<number, AbortController>();
  let lastKey = 0;

  function set(key: number, state: Attachment['state']) {
    list.value = list.value.map((other) => (other.key === key ? { ...other, state } : other));
  }

  async function send({ key, file }: Attachment) {
    set(key, { kind: 'uploading', percent: 0 });
    const controller = new AbortController();
    uploads.set(key, controller);
    const { signal } = controller;
    const onProgress = (share: number) => set(key, { kind: 'uploading', percent: Math.floor(share * 100) });
    try {
      const upload = await rest.upload(file.content, file.name, KEPT_S, { signal, onProgress });
      if (list.value.some((other) => other.key === key)) set(key, { kind: 'ready', upload });
      else discard(upload);
    } catch (error) {
      // While the server answers, a lost upload has another reason, such as a file that has changed on disk.
      const waits = error instanceof ConnectionError && socket.connection.kind !== 'open';
      // One that was removed is not in the list.
      set(key, waits ? { kind: 'waiting' } : { kind: 'failed', error });
    }
    uploads.delete(key);
  }

  function sendAll(isDue: (state: Attachment['state']) => boolean) {
    if (socket.connection.kind !== 'open') return;
    for (const attachment of list.value) if (isDue(attachment.state)) void send(attachment);
  }

  function append(files: readonly StoredFile[]) {
    const added = files.map((file): Attachment => {
      const preview = imageTypes.includes(file.content.type) ? URL.createObjectURL(file.content) : undefined;
      return { key: ++lastKey, name: file.name, preview, state: { kind: 'waiting' }, file };
    });
    list.value = [...list.value, ...added];
    sendAll(isWaiting);
  }

  /** On failure the file expires on the server. */
  const discard = ({ id }: Upload) => void rest.deleteUpload(id).catch(() => undefined);

  function take(gone: (attachment: Attachment) => boolean): Attachment[] {
    const taken = list.value.filter(gone);
    for (const { key, preview } of taken) {
      uploads.get(key)?.abort();
      if (preview !== undefined) URL.revokeObjectURL(preview);
    }
    list.value = list.value.filter((attachment) => !gone(attachment));
    return taken;
  }

  // The end of the connection may be noticed later than that of an upload.
  socket.onConnection(() => sendAll((state) => isWaiting(state) || isLost(state)));

  return {
    list,
    /** Whether all files are uploaded. */
    ready: computed(() => list.value.every(({ state }) => state.kind === 'ready')),
    add: (files: Iterable<File>) =>
      append(Array.from(files, (content) => ({ id: newId(), name: content.name || 'file', content }))),
    /** Adds files of an earlier visit, which are uploaded again: the earlier uploads may have expired. */
    restore: append,
    /** Uploads a file again whose upload has failed. */
    retry(key: number) {
      const found = list.value.find((attachment) => attachment.key === key);
      if (found?.state.kind === 'failed' || found?.state.kind === 'waiting') void send(found);
    },
    /** Removes one file, or all. */
    remove(key?: number) {
      for (const { state } of take((attachment) => key === undefined || attachment.key === key)) {
        if (state.kind === 'ready') discard(state.upload);
      }
    },
    parts: (): ContentPart[] => list.value.flatMap(({ state }) => (state.kind === 'ready' ? partOf(state.upload) : [])),
    /** Removes files with which a prompt was sent. */
    sent: (keys: readonly number[]) => void take(({ key }) => keys.includes(key)),
  };
}

const isWaiting = ({ kind }: Attachment['state']) => kind === 'waiting';
const isLost = (state: Attachment['state']) => state.kind === 'failed' && state.error instanceof ConnectionError;

/** Unique among the tabs of a browser; `randomUUID` is missing on plain HTTP addresses other than loopback. */
const newId = () => `${Date.now().toString(36)}-${crypto.getRandomValues(new Uint32Array(2)).join('-')}`;

function partOf({ id: file_id, name, media_type, size }: Upload): ContentPart {
  if (imageTypes.includes(media_type)) return { type: 'image', source: { kind: 'file', file_id } };
  return { type: 'file', file_id, name, media_type, size };
}
