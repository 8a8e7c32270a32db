import { afterEach, beforeEach, expect, it } from 'vitest';
import * as z from 'zod';
import { readSession } from '#server/search/sessions.ts';
import { windowsOf } from '#server/search/windows.ts';
import { addDocuments, nextNumber } from '#server/search/write-documents.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';
import { openSearchDb, type SearchDb } from './search-db.ts';

const folder = useTemporaryFolder({ inMemory: true });
let search: SearchDb;
beforeEach(() => {
  search = openSearchDb(folder.path);
});
afterEach(() => search.db.close());

/** Adds a document, recorded last (`newest`) or found by a fill, which adds the most recent sessions first. */
function add(session: string, text: string, newest: boolean): void {
  const { connection } = search;
  const source = { id: session, workspaceId: 'wd_1', archived: false, folder: '' };
  const { number } = readSession(connection, source, 'e');
  const document = { agentId: 'main', record: 1, part: 0, time: 1, text };
  connection.transaction(() => addDocuments(connection, nextNumber(connection, newest), number, [document]));
}

/** Time of a window after which the next one has the same size. */
const UNCHANGED_MS = 30;

const textRows = z.array(z.object({ text: z.string() }));

/** The texts of the documents, window by window. */
function windows(session?: string): string[] {
  const sql = `SELECT text FROM texts JOIN documents USING (number) JOIN sessions s ON s.number = session
    WHERE texts.number BETWEEN @low AND @high AND (@session IS NULL OR s.id = @session)`;
  const found: string[] = [];
  const all = windowsOf(search.connection, session, 1);
  for (let next = all.next(UNCHANGED_MS); !next.done; next = all.next(UNCHANGED_MS)) {
    const rows = textRows.parse(search.connection.all(sql, { ...next.value, session: session ?? null }));
    found.push(...rows.map(({ text }) => text));
  }
  return found;
}

it('go from the most recent documents to the oldest', () => {
  // A fill adds sessions from the newest to the oldest, each from its beginning.
  for (const [session, text] of [
    ['b', 'newer session, first'],
    ['b', 'newer session, second'],
    ['a', 'older session'],
  ] as const) {
    add(session, text, false);
  }
  add('c', 'said', true);
  add('b', 'said last', true);
  expect(windows()).toEqual(['said last', 'said', 'newer session, first', 'newer session, second', 'older session']);
  expect(windows('b')).toEqual(['said last', 'newer session, second', 'newer session, first']);
});

it('are four times as large after a quick one, half as large after a slow one', () => {
  for (let at = 0; at < 80; at += 1) add('a', `document ${at}`, false);
  const all = windowsOf(search.connection, undefined, 2);
  const sizes: number[] = [];
  let next = all.next();
  for (const ms of [1, 1, 200, UNCHANGED_MS, 200]) {
    if (next.done) break;
    sizes.push(next.value.high - next.value.low + 1);
    next = all.next(ms);
  }
  expect(sizes).toEqual([2, 8, 32, 16, 16]);
});
