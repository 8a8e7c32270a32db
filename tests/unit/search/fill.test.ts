/** Passes over all sessions, and what becomes of journals that cannot be read. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createRequire } from 'node:module';
import type Database from 'libsql';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { event, internal } from '#server/journal/records.ts';
import { fillPass } from '#server/search/fill.ts';
import { createIndexer, type Indexer } from '#server/search/indexer.ts';
import { libsqlFile } from '#server/storage/index-db.ts';
import { eventually } from '#support/patience.ts';
import { openLog, useTemporaryFolder } from '#support/session-logs.ts';
import { documentsOf, openSearchDb, type SearchDb } from './search-db.ts';

const folder = useTemporaryFolder();
let search: SearchDb;
let sessionIndex: Database.Database;
let indexer: Indexer;

const indexPath = () => join(folder.path, 'sessions.db');
const folderOf = (id: string) => join(folder.path, 'sessions', 'wd_1', id);

beforeEach(() => {
  const file = libsqlFile();
  const Sqlite: typeof Database = createRequire(file)(file);
  sessionIndex = new Sqlite(indexPath());
  sessionIndex.exec(
    'CREATE TABLE sessions (id TEXT, workspace_id TEXT, archived INTEGER, journal_length INTEGER, updated_at INTEGER)',
  );
  search = openSearchDb(folder.path);
  indexer = createIndexer({
    ...search,
    sessionIndex: indexPath(),
    sessionsDir: join(folder.path, 'sessions'),
    isSearching: () => false,
  });
});
afterEach(() => {
  indexer.close();
  search.db.close();
  sessionIndex.close();
});

const addRow = (id: string, length: number) =>
  sessionIndex.prepare(`INSERT INTO sessions VALUES (?, 'wd_1', 0, ?, 1)`).run(id, length);

async function writeSession(id: string, title: string): Promise<void> {
  const { log } = await openLog(folderOf(id), { sink: { publish() {} } });
  await log.claim();
  log.append([
    event('main', 'agent.created', {}, { kind: 'main' }),
    internal('main', 'agent.config', { model: 'm1', permission: 'manual', maxContextTokens: 1000 }),
    event('main', 'session.meta.updated', { patch: { title }, title }),
  ]);
  const { length } = log;
  await log.close();
  addRow(id, length);
}

async function writeDamaged(id: string, text: string): Promise<void> {
  await mkdir(folderOf(id), { recursive: true });
  await writeFile(join(folderOf(id), 'journal.ndjson'), text);
  addRow(id, Buffer.byteLength(text));
}

/** Ids of the sessions that the next pass would index. */
async function outdated(): Promise<string[]> {
  const ids: string[] = [];
  await fillPass({
    connection: search.connection,
    sessionIndex: indexPath(),
    sessionsDir: join(folder.path, 'sessions'),
    index: async ({ id }) => void ids.push(id),
    goesOn: () => true,
  });
  return ids;
}

it('skips a damaged journal until it changes, and indexes all others', async () => {
  await writeDamaged('s1', '{"this is": no header\n');
  await writeSession('s2', 'The walrus sleeps');
  indexer.setFilling(true);
  await eventually(() => expect(search.db.filled()).toBe(true));
  indexer.setFilling(false);
  expect(documentsOf(search.connection, 's2')).toMatchObject([{ role: 'title', text: 'The walrus sleeps' }]);
  expect(indexer.failure()).toBeDefined();
  expect(await outdated()).toEqual([]);
  sessionIndex.prepare(`UPDATE sessions SET journal_length = 100 WHERE id = 's1'`).run();
  expect(await outdated()).toEqual(['s1']);
});
