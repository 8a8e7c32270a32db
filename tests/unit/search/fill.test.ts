/** Passes over all sessions, and what becomes of journals that cannot be read. */
import { appendFile, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
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

it.each([
  ['header', async () => writeDamaged('s1', '{"this is": no header\n')],
  [
    'line',
    async () => {
      await writeSession('s1', 'The walrus wakes');
      const path = join(folderOf('s1'), 'journal.ndjson');
      await appendFile(path, '{"damaged\n');
      sessionIndex.prepare('UPDATE sessions SET journal_length = ?').run((await stat(path)).size);
    },
  ],
])('skips a journal with a damaged %s until it changes, and indexes all others', async (_part, damage) => {
  await damage();
  await writeSession('s2', 'The walrus sleeps');
  indexer.setFilling(true);
  await eventually(() => expect(search.db.filled()).toBe(true));
  indexer.setFilling(false);
  expect(documentsOf(search.connection, 's2')).toMatchObject([{ role: 'title', text: 'The walrus sleeps' }]);
  expect(indexer.failure()).toBeDefined();
  expect(await outdated()).toEqual([]);
  sessionIndex.prepare(`UPDATE sessions SET journal_length = 1000 WHERE id = 's1'`).run();
  expect(await outdated()).toEqual(['s1']);
});

it('indexes a journal that a shorter copy has replaced from its start', async () => {
  await writeSession('s1', 'The walrus sleeps');
  const path = join(folderOf('s1'), 'journal.ndjson');
  const copy = await readFile(path);
  const hint = (length: number) => ({ id: 's1', workspaceId: 'wd_1', archived: false, folder: folderOf('s1'), length });
  const { log } = await openLog(folderOf('s1'), { sink: { publish() {} } });
  await log.claim();
  log.append([
    event('main', 'session.meta.updated', { patch: { title: 'The walrus wakes' }, title: 'The walrus wakes' }),
  ]);
  const { length } = log;
  await log.close();
  await indexer.indexNow(hint(length), () => true);
  expect(documentsOf(search.connection, 's1')).toMatchObject([{ text: 'The walrus wakes' }]);
  await writeFile(path, copy);
  await indexer.indexNow(hint(copy.length), () => true);
  expect(documentsOf(search.connection, 's1')).toMatchObject([{ text: 'The walrus sleeps' }]);
});

it('ends before its next session when the lease is lost', async () => {
  await writeSession('s1', 'The walrus sleeps');
  await writeSession('s2', 'The walrus wakes');
  const indexed: string[] = [];
  const isComplete = await fillPass({
    connection: search.connection,
    sessionIndex: indexPath(),
    sessionsDir: join(folder.path, 'sessions'),
    index: async ({ id }) => void indexed.push(id),
    goesOn: () => indexed.length === 0,
  });
  expect(isComplete).toBe(false);
  expect(indexed).toHaveLength(1);
});
