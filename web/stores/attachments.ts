/** Attachments of the next prompt: each file is uploaded as soon as it is selected. */
import { computed, shallowRef } from 'vue';
import { reasonOf } from '../client/errors.ts';
import type { Rest } from '../client/rest.ts';
import type { ContentPart, Upload } from '../client/types.ts';

export interface Attachment {
  key: number;
  name: string;
  /** Displayed instead of the name, for images that browsers and models support. */
  preview: string | undefined;
  state: { kind: 'uploading' } | { kind: 'ready'; upload: Upload } | { kind: 'failed'; reason: string };
}

/** Image types that models accept; all others are sent as files. */
const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
/** Expiry of uploads: a prompt that is still unsent a day later needs its files again. */
const KEPT_S = 86_400;

/** Creates an empty list. `close` discards unsent files. */
export function createAttachments(rest: Pick<Rest, 'upload' | 'deleteUpload'>) {
  const list = shallowRef<readonly Attachment[]>([]);
  let lastKey = 0;

  function set(key: number, state: Attachment['state']) {
    list.value = list.value.map((other) => (other.key === key ? { ...other, state } : other));
  }

  async function add(file: File) {
    const key = ++lastKey;
    const name = file.name || 'file';
    const preview = imageTypes.includes(file.type) ? URL.createObjectURL(file) : undefined;
    list.value = [...list.value, { key, name, preview, state: { kind: 'uploading' } }];
    try {
      const upload = await rest.upload(file, name, KEPT_S);
      if (list.value.some((other) => other.key === key)) set(key, { kind: 'ready', upload });
      else discard(upload);
    } catch (error) {
      set(key, { kind: 'failed', reason: reasonOf(error) });
    }
  }

  /** On failure the file expires on the server. */
  const discard = ({ id }: Upload) => void rest.deleteUpload(id).catch(() => undefined);

  function take(gone: (attachment: Attachment) => boolean): Attachment[] {
    const taken = list.value.filter(gone);
    for (const { preview } of taken) if (preview !== undefined) URL.revokeObjectURL(preview);
    list.value = list.value.filter((attachment) => !gone(attachment));
    return taken;
  }

  function remove(key?: number) {
    for (const { state } of take((attachment) => key === undefined || attachment.key === key)) {
      if (state.kind === 'ready') discard(state.upload);
    }
  }

  return {
    list,
    /** Whether all files are uploaded. */
    ready: computed(() => list.value.every(({ state }) => state.kind === 'ready')),
    add: (files: Iterable<File>) => void Promise.all(Array.from(files, add)),
    remove,
    parts: (): ContentPart[] => list.value.flatMap(({ state }) => (state.kind === 'ready' ? partOf(state.upload) : [])),
    /** Clears the list after a prompt was sent with it. */
    sent: () => void take(() => true),
    close: () => remove(),
  };
}

function partOf({ id: file_id, name, media_type, size }: Upload): ContentPart {
  if (imageTypes.includes(media_type)) return { type: 'image', source: { kind: 'file', file_id } };
  return { type: 'file', file_id, name, media_type, size };
}
