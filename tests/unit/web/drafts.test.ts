/** Unsent prompts: their storage, and files that wait for the server. */
import { expect, it, vi } from 'vitest';
import { nextTick, shallowRef } from 'vue';
import { ApiError, ConnectionError, type Connection, type Rest, type Upload } from '@service-code/client';
import { createDrafts } from '../../../web/stores/drafts.ts';
import type { DraftStorage, StoredDraft } from '../../../web/stores/draft-storage.ts';
import { useHeldSend } from '../../../web/stores/held-send.ts';

/** A database that stores copies. */
function storageOf(stored = new Map<string, StoredDraft>()): DraftStorage & { stored: Map<string, StoredDraft> } {
  return {
    stored,
    slot: (id) => ({
      read: async () => stored.get(id),
      write: async ({ text, files }) => void stored.set(id, { text, files: [...files] }),
      keepText: () => {},
    }),
    removeBefore: async () => {},
  };
}

/** A server that answers while its connection is open. */
function serverOf(kind: Connection['kind'] = 'open') {
  const connection = shallowRef<Connection>(kind === 'waiting' ? { kind, retryAt: 0 } : { kind });
  const listeners = new Set<(state: Connection) => void>();
  const uploaded: string[] = [];
  const discarded: string[] = [];
  let refusal: Error | undefined;
  return {
    connection,
    uploaded,
    discarded,
    refuse(error: Error | undefined) {
      refusal = error;
    },
    connect(next: Connection) {
      connection.value = next;
      for (const listener of listeners) listener(next);
    },
    deps: {
      rest: {
        async upload(_file: Blob, name: string): Promise<Upload> {
          if (connection.value.kind !== 'open') throw new ConnectionError('away');
          if (refusal) throw refusal;
          uploaded.push(name);
          return { id: `file_${uploaded.length}`, name, media_type: 'text/plain', size: 1, created_at: '' };
        },
        async deleteUpload(id: string) {
          discarded.push(id);
          return { deleted: true as const };
        },
      },
      socket: {
        get connection() {
          return connection.value;
        },
        onConnection(listener: (state: Connection) => void) {
          listeners.add(listener);
          return () => void listeners.delete(listener);
        },
      },
    },
  };
}

const notes = () => new File(['x'], 'notes.txt', { type: 'text/plain' });

it('stores each change, restores it in another page, and removes it with the sending', async () => {
  const storage = storageOf();
  const first = createDrafts(serverOf().deps, storage).of('session_1');
  await first.restored;
  first.text.value = 'Fix';
  first.text.value = 'Fix the parser';
  first.attachments.add([notes()]);
  await vi.waitFor(() =>
    expect(storage.stored.get('session_1')).toMatchObject({ text: 'Fix the parser', files: [{ name: 'notes.txt' }] }),
  );

  const server = serverOf();
  const drafts = createDrafts(server.deps, storage);
  const second = drafts.of('session_1');
  expect(drafts.of('session_1')).toBe(second);
  await second.restored;
  expect(second.text.value).toBe('Fix the parser');
  await vi.waitFor(() => expect(second.attachments.ready.value).toBe(true));
  expect(server.uploaded).toEqual(['notes.txt']);
  expect(drafts.of('session_2').text.value).toBe('');
  const keys = second.attachments.list.value.map(({ key }) => key);
  second.attachments.add([notes()]);
  second.text.value = '';
  // A file that was added after the prompt was sent stays.
  second.attachments.sent(keys);
  expect(second.attachments.list.value).toHaveLength(1);
  second.attachments.remove();
  await vi.waitFor(() => expect(storage.stored.get('session_1')).toEqual({ text: '', files: [] }));
});

it('keeps what was typed before the stored draft was read', async () => {
  const storage = storageOf(new Map([['session_1', { text: 'earlier', files: [] }]]));
  const draft = createDrafts(serverOf().deps, storage).of('session_1');
  draft.text.value = 'later';
  await draft.restored;
  expect(draft.text.value).toBe('earlier\n\nlater');
  await vi.waitFor(() => expect(storage.stored.get('session_1')?.text).toBe('earlier\n\nlater'));
});

it('lasts as long as the page where the browser has no database', async () => {
  const refuse = () => Promise.reject(new Error('no database'));
  const draft = createDrafts(serverOf().deps, {
    slot: () => ({ read: refuse, write: refuse, keepText: () => {} }),
    removeBefore: refuse,
  }).of('session_1');
  await draft.restored;
  draft.text.value = 'kept';
  await nextTick();
  expect(draft.text.value).toBe('kept');
});

it('uploads files when the server answers again; a refused file may be tried again', async () => {
  const server = serverOf('waiting');
  const { attachments } = createDrafts(server.deps, storageOf()).of('session_1');
  attachments.add([notes()]);
  expect(attachments.list.value[0]?.state.kind).toBe('waiting');
  const refusal = new ApiError(41301, 'Too large', { status: 200 });
  server.refuse(refusal);
  server.connect({ kind: 'open' });
  await vi.waitFor(() => expect(attachments.list.value[0]?.state).toEqual({ kind: 'failed', error: refusal }));
  server.refuse(undefined);
  attachments.retry(attachments.list.value[0]?.key ?? 0);
  await vi.waitFor(() => expect(attachments.ready.value).toBe(true));
  attachments.remove();
  expect(server.discarded).toEqual(['file_1']);
});

it('offers a retry where an upload is cut off although the server answers, and retries it at the next connection', async () => {
  const server = serverOf();
  const { attachments } = createDrafts(server.deps, storageOf()).of('session_1');
  const state = () => attachments.list.value[0]?.state;
  const cut = new ConnectionError('no reply');
  server.refuse(cut);
  attachments.add([notes()]);
  await vi.waitFor(() => expect(state()).toEqual({ kind: 'failed', error: cut }));
  server.refuse(undefined);
  attachments.retry(attachments.list.value[0]?.key ?? 0);
  await vi.waitFor(() => expect(state()?.kind).toBe('ready'));
  attachments.remove();

  // The page receives the end of the connection later than that of the upload.
  server.refuse(cut);
  attachments.add([notes()]);
  await vi.waitFor(() => expect(state()?.kind).toBe('failed'));
  server.connect({ kind: 'waiting', retryAt: 0 });
  server.refuse(undefined);
  server.connect({ kind: 'open' });
  await vi.waitFor(() => expect(state()?.kind).toBe('ready'));
});

it('waits with an upload that the end of the connection cuts off', async () => {
  const server = serverOf();
  let cutOff = (_error: Error) => {};
  const { upload } = server.deps.rest;
  const uploadOf = vi.spyOn(server.deps.rest, 'upload');
  uploadOf.mockImplementationOnce(() => new Promise((_, reject) => (cutOff = reject)));
  const { attachments } = createDrafts(server.deps, storageOf()).of('session_1');
  attachments.add([notes()]);
  server.connect({ kind: 'waiting', retryAt: 0 });
  cutOff(new ConnectionError('no reply'));
  await vi.waitFor(() => expect(attachments.list.value[0]?.state.kind).toBe('waiting'));
  uploadOf.mockImplementation(upload);
  server.connect({ kind: 'open' });
  await vi.waitFor(() => expect(attachments.ready.value).toBe(true));
});

it('does not repeat a refused upload at the next connection', async () => {
  const server = serverOf();
  const { attachments } = createDrafts(server.deps, storageOf()).of('session_1');
  server.refuse(new ApiError(41301, 'Too large', { status: 200 }));
  attachments.add([notes()]);
  await vi.waitFor(() => expect(attachments.list.value[0]?.state.kind).toBe('failed'));
  server.refuse(undefined);
  server.connect({ kind: 'open' });
  expect(attachments.list.value[0]?.state.kind).toBe('failed');
});

it('has the progress of an upload, which stores nothing, and cancels one that is removed', async () => {
  const storage = storageOf();
  const server = serverOf();
  const write = vi.spyOn(storage.stored, 'set');
  let options: Parameters<Rest['upload']>[3];
  const draft = createDrafts(
    {
      ...server.deps,
      rest: {
        ...server.deps.rest,
        upload: (_file, _name, _seconds, given) => {
          options = given;
          return new Promise((_, reject) =>
            given?.signal?.addEventListener('abort', () => reject(new Error('cancelled'))),
          );
        },
      },
    },
    storage,
  ).of('session_1');
  await draft.restored;
  draft.attachments.add([notes()]);
  await vi.waitFor(() => expect(write).toHaveBeenCalledTimes(1));
  const state = () => draft.attachments.list.value[0]?.state;
  expect(state()).toEqual({ kind: 'uploading', percent: 0 });
  options?.onProgress?.(0.428);
  expect(state()).toEqual({ kind: 'uploading', percent: 42 });
  draft.text.value = 'next';
  await vi.waitFor(() => expect(storage.stored.get('session_1')?.text).toBe('next'));
  expect(write).toHaveBeenCalledTimes(2);
  draft.attachments.remove();
  expect(options?.signal?.aborted).toBe(true);
  await nextTick();
  expect(draft.attachments.list.value).toEqual([]);
});

it('sends as soon as the server answers and the files are uploaded, unless that is cancelled', async () => {
  const server = serverOf('waiting');
  const { attachments } = createDrafts(server.deps, storageOf()).of('session_1');
  const send = vi.fn(async () => {});
  const held = useHeldSend({ connection: server.connection, attachments, send });
  attachments.add([notes()]);
  expect(held.reason.value).toBeUndefined();
  held.request();
  expect(held.reason.value?.key).toBe('drafts.waits-for-server');
  held.cancel();
  expect(held.reason.value).toBeUndefined();
  held.request();
  server.connect({ kind: 'open' });
  expect(held.reason.value?.key).toBe('drafts.waits-for-files');
  expect(send).not.toHaveBeenCalled();
  await vi.waitFor(() => expect(send).toHaveBeenCalledOnce());
  expect(held.reason.value).toBeUndefined();
  held.request();
  await nextTick();
  expect(send).toHaveBeenCalledTimes(2);
});
