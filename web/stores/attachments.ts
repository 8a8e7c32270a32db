/** Files that the next prompt brings along: each is on its way to the server as soon as it is chosen. */
import { computed, shallowRef } from 'vue';
import { reasonOf } from '../client/errors.ts';
import type { Rest } from '../client/rest.ts';
import type { ContentPart, Upload } from '../client/types.ts';

export interface Attachment {
  key: number;
  name: string;
  /** Shown in place of the name, of images that browsers and models know. */
  preview: string | undefined;
  state: { kind: 'uploading' } | { kind: 'ready'; upload: Upload } | { kind: 'failed'; reason: string };
}

/** What models take as images; everything else is a file to them. */
const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
/** A prompt that is still being written a day later has to be given its files anew. */
const KEPT_S = 86_400;

/** Empty. `close` forgets what was not sent. */
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

  /** It expires where this fails. */
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
    /** All of them are on the server. */
    ready: computed(() => list.value.every(({ state }) => state.kind === 'ready')),
    add: (files: Iterable<File>) => void Promise.all(Array.from(files, add)),
    remove,
    parts: (): ContentPart[] => list.value.flatMap(({ state }) => (state.kind === 'ready' ? partOf(state.upload) : [])),
    /** A prompt has them now. */
    sent: () => void take(() => true),
    close: () => remove(),
  };
}

function partOf({ id: file_id, name, media_type, size }: Upload): ContentPart {
  if (imageTypes.includes(media_type)) return { type: 'image', source: { kind: 'file', file_id } };
  return { type: 'file', file_id, name, media_type, size };
}
