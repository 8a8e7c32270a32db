/** Unsent prompts and their files in the browser's database. */
import { createStore, get, getMany, promisifyRequest } from 'idb-keyval';
import type { DraftStorage } from './draft-storage.ts';

/** The files' contents are values of their own, so that a changed text does not write them again. */
interface DraftRecord {
  text: string;
  files: { id: string; name: string }[];
  changedAt: number;
}

const recordKey = (sessionId: string) => `draft ${sessionId}`;
const fileKey = ({ id }: { id: string }) => `file ${id}`;

/** `name` is the database's. It is opened by the first call, which rejects if the browser has no database. */
export function createDraftDatabase(name: string): DraftStorage {
  const store = createStore(name, 'drafts');
  return {
    slot(sessionId) {
      const key = recordKey(sessionId);
      const textKey = `${name} ${sessionId}`;
      /** Keys of the stored contents. */
      let stored = new Set<string>();
      return {
        async read() {
          const record = await get<DraftRecord>(key, store);
          const keptText = localStorage.getItem(textKey) ?? undefined;
          if (!record) return keptText === undefined ? undefined : { text: keptText, files: [] };
          const keys = record.files.map(fileKey);
          const contents = await getMany<Blob>(keys, store);
          stored = new Set(keys);
          const files = record.files.flatMap((file, at) => {
            const content = contents[at];
            return content ? [{ ...file, content }] : [];
          });
          return { text: keptText ?? record.text, files };
        },
        write: ({ text, files }) =>
          store('readwrite', async (objects) => {
            const keys = new Set(files.map(fileKey));
            for (const file of files) if (!stored.has(fileKey(file))) objects.put(file.content, fileKey(file));
            for (const gone of stored) if (!keys.has(gone)) objects.delete(gone);
            const record: DraftRecord = {
              text,
              files: files.map(({ id, name }) => ({ id, name })),
              changedAt: Date.now(),
            };
            if (text === '' && files.length === 0) objects.delete(key);
            else objects.put(record, key);
            await promisifyRequest(objects.transaction);
            stored = keys;
            if (localStorage.getItem(textKey) === text) localStorage.removeItem(textKey);
          }),
        keepText(text) {
          try {
            localStorage.setItem(textKey, text);
          } catch {
            // It is too long, and only the database has it.
            localStorage.removeItem(textKey);
          }
        },
      };
    },
    removeBefore: (time) =>
      store('readwrite', async (objects) => {
        const drafts = objects.openCursor(IDBKeyRange.bound(recordKey(''), recordKey('\uffff')));
        drafts.onsuccess = () => {
          const cursor = drafts.result;
          if (!cursor) return;
          const { files, changedAt }: DraftRecord = cursor.value;
          if (changedAt < time) {
            for (const file of files) objects.delete(fileKey(file));
            cursor.delete();
          }
          cursor.continue();
        };
        await promisifyRequest(objects.transaction);
      }),
  };
}
