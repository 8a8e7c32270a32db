import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFillBatch } from '#server/search/fill-batch.ts';
import { indexJournal } from '#server/search/index-journal.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';
import { documentsOf, openSearchDb, type SearchDb } from './search-db.ts';
import { openSearchHome, type SearchHome } from './search-home.ts';

const folder = useTemporaryFolder({ inMemory: true });
let home: SearchHome;
let search: SearchDb;
beforeEach(() => {
  home = openSearchHome(folder.path);
  search = openSearchDb(folder.path);
});
afterEach(() => {
  home.close();
  search.db.close();
});

const texts = (id: string) => documentsOf(search.connection, id).map(({ text }) => text);

function start() {
  const { connection } = search;
  const transactions: number[] = [];
  const alone: string[] = [];
  const batch = createFillBatch({
    connection: {
      ...connection,
      transaction(work) {
        transactions.push(1);
        connection.transaction(work);
      },
    },
    async indexAlone(session) {
      alone.push(session.id);
      await indexJournal(connection, session, session.length, { newest: false, goesOn: async () => true });
    },
    mayReadOn: async () => true,
  });
  return { batch, transactions, alone };
}

describe('a batch of a fill', () => {
  it('writes the documents of several sessions in one transaction', async () => {
    const { batch, transactions, alone } = start();
    for (const id of ['a', 'b', 'c']) await batch.add(await home.addSession(id, [`about ${id}`]));
    expect(texts('a')).toEqual([]);
    await batch.flush();
    expect(['a', 'b', 'c'].map(texts)).toEqual([['about a'], ['about b'], ['about c']]);
    expect(transactions).toHaveLength(1);
    expect(alone).toEqual([]);
  });

  it('is written before it is larger than a transaction may be', async () => {
    const { batch } = start();
    const prompts = Array.from({ length: 40 }, (_, prompt) => `prompt ${prompt}`);
    await batch.add(await home.addSession('first', prompts));
    await batch.add(await home.addSession('second', prompts));
    expect(texts('first')).toHaveLength(40);
    expect(texts('second')).toHaveLength(0);
  });

  it('indexes a session again that was indexed further meanwhile, and writes the others', async () => {
    const { batch, alone } = start();
    const overtaken = await home.addSession('overtaken', ['one', 'two']);
    await batch.add(overtaken);
    await batch.add(await home.addSession('other', ['three']));
    await indexJournal(search.connection, overtaken, overtaken.length, { newest: true, goesOn: async () => true });
    await batch.flush();
    expect(texts('overtaken').toSorted()).toEqual(['one', 'two']);
    expect(texts('other')).toEqual(['three']);
    expect(alone).toEqual(['overtaken']);
  });

  it('notes a journal that could not be read to its end, and writes nothing more for one that was', async () => {
    const { batch, transactions } = start();
    const [whole, torn] = [await home.addSession('whole', ['one']), await home.addSession('torn', ['two'])];
    const length = torn.length + 1;
    await batch.add(whole);
    await batch.add({ ...torn, length });
    await batch.flush();
    // That of the portions, and that of the note.
    expect(transactions).toHaveLength(2);
    const sql = 'SELECT id, failed_length AS length FROM sessions WHERE failed_length IS NOT NULL';
    expect(search.connection.all(sql)).toEqual([{ id: 'torn', length }]);
  });
});
