import { afterEach, beforeEach, expect, it } from 'vitest';
import * as z from 'zod';
import {
  noteFailure,
  readSession,
  removeSession,
  resetSession,
  SESSIONS,
  storeNumber,
} from '#server/search/sessions.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';
import { addDocuments } from '#server/search/write-documents.ts';
import { openSearchDb, type SearchDb } from './search-db.ts';

const folder = useTemporaryFolder({ inMemory: true });
let search: SearchDb;
beforeEach(() => {
  search = openSearchDb(folder.path);
});
afterEach(() => search.db.close());

const source = (id: string) => ({ id, workspaceId: 'w', archived: false, folder: '' });
const add = (id: string) => search.connection.transaction(() => void readSession(search.connection, source(id), 'e'));

const numberRow = z.tuple([z.object({ number: z.coerce.number() })]);
const read = (sql: string) => numberRow.parse(search.connection.all(`SELECT ${sql} AS number`))[0].number;
const stored = () => read(`(SELECT value FROM facts WHERE name = 'sessions')`);

it('the number of sessions is counted until it is stored, and then follows each change', async () => {
  const { connection } = search;
  add('a');
  add('b');
  expect(read(SESSIONS)).toBe(2);
  storeNumber(connection);
  expect(stored()).toBe(2);
  add('c');
  add('a');
  expect(stored()).toBe(3);
  noteFailure(connection, source('d'), 5);
  noteFailure(connection, source('d'), 6);
  noteFailure(connection, source('a'), 7);
  expect(stored()).toBe(4);
  await removeSession(connection, 'b');
  await removeSession(connection, 'unknown');
  expect(stored()).toBe(3);
  expect(read('(SELECT count(*) FROM sessions)')).toBe(3);
  connection.run(`UPDATE facts SET value = 7 WHERE name = 'sessions'`);
  expect(read(SESSIONS)).toBe(7);
  storeNumber(connection);
  expect(read(SESSIONS)).toBe(3);
});

it('a failure is noted for a new session and for one that is not indexed to its end', () => {
  const { connection } = search;
  add('a');
  connection.run('UPDATE sessions SET length = 5');
  for (const [id, length] of [
    ['a', 5],
    ['b', 6],
    ['b', 7],
  ] as const) {
    noteFailure(connection, source(id), length);
  }
  const failed = () =>
    connection.all('SELECT id, failed_length AS length FROM sessions WHERE failed_length IS NOT NULL');
  expect(failed()).toEqual([{ id: 'b', length: 7 }]);
  noteFailure(connection, source('a'), 6);
  expect(failed()).toEqual([
    { id: 'a', length: 6 },
    { id: 'b', length: 7 },
  ]);
});

it.each<[string, (number: number) => Promise<void>]>([
  ['removed', () => removeSession(search.connection, 'long')],
  ['reset', (number) => resetSession(search.connection, number, 'e')],
])('a session of many documents that is %s leaves time for queries', async (_, remove) => {
  const { connection } = search;
  const texts = Array.from({ length: 300 }, (_, record) => ({
    agentId: 'main',
    role: 'user' as const,
    record,
    part: 0,
    time: 1,
    text: `text ${record}`,
  }));
  let number = 0;
  connection.transaction(() => {
    ({ number } = readSession(connection, source('long'), 'e'));
    addDocuments(connection, 1, number, texts);
  });
  const left = () => read('(SELECT count(*) FROM documents)');
  const seen = new Set<number>();
  const removed = remove(number);
  function query() {
    seen.add(left());
    if (left() > 0) setImmediate(query);
  }
  setImmediate(query);
  await removed;
  expect(left()).toBe(0);
  expect(seen.size).toBeGreaterThan(2);
});
