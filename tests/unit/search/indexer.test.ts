import { appendFile, copyFile, readFile, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createFillPace, type FillPace } from '#server/search/fill-pace.ts';
import { createIndexer, type Indexer, type IndexerDeps } from '#server/search/indexer.ts';
import { indexJournal } from '#server/search/index-journal.ts';
import type { Hint } from '#server/search/messages.ts';
import { liveConnection } from '#server/search/live-connection.ts';
import { indexSchema } from '#server/sessions/index/session-header.ts';
import { createIndexDb } from '#server/storage/index-db.ts';
import { createLogger } from '#server/logging/log.ts';
import { eventually } from '#support/patience.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';
import { documentsOf, openSearchDb, type SearchDb } from './search-db.ts';
import { openSearchHome, type SearchHome } from './search-home.ts';

const folder = useTemporaryFolder({ inMemory: true });
let home: SearchHome;
let search: SearchDb;
/** Before the folder is removed, which a running indexer would create again. */
const closers: (() => void)[] = [];
const closeLater = (close: () => void) => void closers.unshift(close);
afterEach(() => {
  for (const close of closers.splice(0)) close();
});
beforeEach(() => {
  home = openSearchHome(folder.path);
  search = openSearchDb(folder.path);
  // As in the thread: an indexer that still works when the database is closed gets an error.
  search.connection = liveConnection(search.db);
  closeLater(home.close);
  closeLater(search.db.close);
});

/** An indexer that owns the lease, with the statements that it ran. */
function start(deps: Partial<IndexerDeps> = {}): { indexer: Indexer; statements: string[] } {
  const statements: string[] = [];
  const { connection = search.connection, ...more } = deps;
  const indexer = createIndexer({
    db: search.db,
    connection: {
      ...connection,
      all(sql, binding) {
        statements.push(sql);
        return connection.all(sql, binding);
      },
    },
    sessionIndex: home.sessionIndex,
    sessionsDir: home.sessionsDir,
    isSearching: () => false,
    checkLease: () => indexer.setFilling(true),
    passEveryMs: 1,
    ...more,
  });
  closeLater(indexer.close);
  return { indexer, statements };
}

/** Passes that have compared all sessions; the last statement finds those that were removed. */
const passes = (statements: string[]) => statements.filter((sql) => sql.includes('NOT EXISTS')).length;
const texts = (id: string) =>
  documentsOf(search.connection, id)
    .map(({ text }) => text)
    .toSorted();
const indexed = () =>
  z
    .array(z.object({ id: z.string() }))
    .parse(search.connection.all('SELECT id FROM sessions WHERE documents > 0 ORDER BY number'))
    .map(({ id }) => id);

/** The sessions whose hits are found. */
const shown = () =>
  z
    .array(z.object({ id: z.string() }))
    .parse(search.connection.all('SELECT id FROM sessions WHERE archived = 0'))
    .map(({ id }) => id);

const prompts = (count: number) => Array.from({ length: count }, (_, prompt) => `prompt ${prompt}`);

/** Waits until as many further passes are over, which compare nothing if the session index is unchanged for a second. */
async function morePasses(statements: string[], count = 2): Promise<void> {
  const before = passes(statements);
  await eventually(async () => {
    await utimes(home.sessionIndex, new Date(), new Date());
    expect(passes(statements)).toBeGreaterThanOrEqual(before + count);
  });
}

describe('a pass', () => {
  it('indexes cold sessions, the most recent first, and those that changed again', async () => {
    for (const id of ['a', 'b', 'c']) await home.addSession(id, [`about ${id}`]);
    const { indexer, statements } = start();
    indexer.setFilling(true);
    await morePasses(statements);
    expect(indexed()).toEqual(['c', 'b', 'a']);
    const stored = () =>
      search.connection.all(`SELECT CAST(value AS INTEGER) AS value FROM facts WHERE name = 'sessions'`);
    expect(stored()).toEqual([{ value: 3 }]);
    await home.addSession('other', ['one', 'two']);
    await morePasses(statements);
    expect(texts('other')).toEqual(['one', 'two']);
    expect(stored()).toEqual([{ value: 4 }]);
  });

  it('locks the session index in none of its transactions, so that turns can write it', async () => {
    const hint = await home.addSession('a', ['about a']);
    await home.addSession('b', ['about b']);
    let writes = 0;
    const transaction = (work: () => void) =>
      search.connection.transaction(() => {
        work();
        // It waits for two seconds where the session index is locked, and then fails.
        home.setLength('a', hint.length);
        writes += 1;
      });
    const { indexer, statements } = start({ connection: { ...search.connection, transaction } });
    indexer.setFilling(true);
    await eventually(() => expect(indexed()).toContain('a'));
    await morePasses(statements);
    expect(writes).toBeGreaterThan(0);
    expect(indexer.failure()).toBeUndefined();
  });

  it('compares no sessions while a query runs', async () => {
    let checks = 0;
    let isSearching = true;
    const { indexer, statements } = start({
      isSearching() {
        checks += 1;
        return isSearching;
      },
    });
    indexer.setFilling(true);
    await eventually(() => expect(checks).toBeGreaterThan(5));
    expect(passes(statements)).toBe(0);
    isSearching = false;
    await eventually(() => expect(passes(statements)).toBeGreaterThan(0));
  });

  it('compares nothing while the files of the session index are unchanged', async () => {
    await home.addSession('a', ['about a']);
    let attempts = 0;
    const refresh = () => {
      attempts += 1;
      return search.db.refresh();
    };
    const { indexer, statements } = start({ db: { ...search.db, refresh } });
    indexer.setFilling(true);
    await eventually(() => expect(search.db.filled()).toBe(true));
    const past = new Date(Date.now() - 60_000);
    for (const suffix of ['', '-wal']) await utimes(home.sessionIndex + suffix, past, past);
    const moreAttempts = async () => {
      const before = attempts;
      await eventually(() => expect(attempts).toBeGreaterThan(before + 3));
    };
    await moreAttempts();
    const compared = passes(statements);
    await moreAttempts();
    expect(passes(statements)).toBe(compared);
    await home.addSession('b', ['about b']);
    await eventually(() => expect(indexed()).toEqual(['a', 'b']));
  });

  it('skips a damaged journal until it changes, and indexes all others', async () => {
    await home.addSession('header', ['lost']);
    await home.addSession('line', ['first', 'second']);
    await home.addSession('healthy', ['here']);
    const whole = await readFile(home.journal('header'), 'utf8');
    await writeFile(home.journal('header'), `#${whole.slice(1)}`);
    const lines = (await readFile(home.journal('line'), 'utf8')).split('\n');
    await writeFile(
      home.journal('line'),
      [...lines.slice(0, 3), `#${lines[3]?.slice(1)}`, ...lines.slice(4)].join('\n'),
    );

    let checks = 0;
    const countedPace: FillPace = async (work) => {
      checks += 1;
      await work();
    };
    const { indexer, statements } = start({ newPace: () => countedPace });
    indexer.setFilling(true);
    await morePasses(statements);
    expect(texts('healthy')).toEqual(['here']);
    expect(texts('header')).toEqual([]);
    expect(indexer.failure()).toBeUndefined();
    // The pace is awaited before each session that is indexed.
    const tried = checks;
    await morePasses(statements, 5);
    expect(checks).toBe(tried);

    await writeFile(home.journal('header'), whole);
    await appendFile(home.journal('header'), ' ');
    await home.noteLength('header');
    await morePasses(statements);
    expect(texts('header')).toEqual(['lost']);
  });

  it('indexes a journal from its start that was replaced with a shorter copy', async () => {
    await home.addSession('short', ['kept', 'gone']);
    const { indexer, statements } = start();
    indexer.setFilling(true);
    await morePasses(statements);
    expect(texts('short')).toEqual(['gone', 'kept']);
    const lines = (await readFile(home.journal('short'), 'utf8')).split('\n');
    const copy = `${home.journal('short')}.copy`;
    await copyFile(home.journal('short'), copy);
    await truncate(home.journal('short'), Buffer.byteLength(`${lines.slice(0, 4).join('\n')}\n`));
    await home.noteLength('short');
    await morePasses(statements);
    expect(texts('short')).toEqual(['kept']);
    await copyFile(copy, home.journal('short'));
    expect((await stat(copy)).size).toBe((await home.noteLength('short')).length);
    await morePasses(statements);
    expect(texts('short')).toEqual(['gone', 'kept']);
  });

  it('leaves a session as it is that is indexed further than its row says, as while its turn runs', async () => {
    const hint = await home.addSession('running', ['first', 'second']);
    const lines = (await readFile(home.journal('running'), 'utf8')).split('\n');
    const earlier = lines.slice(
      0,
      lines.findIndex((line) => line.includes('second')),
    );
    home.setLength('running', Buffer.byteLength(`${earlier.join('\n')}\n`));
    const { indexer, statements } = start();
    indexer.hint([hint]);
    await eventually(() => expect(texts('running')).toEqual(['first', 'second']));
    const numbers = () => search.connection.all('SELECT number FROM documents ORDER BY number');
    const before = numbers();
    indexer.setFilling(true);
    await morePasses(statements);
    expect(numbers()).toEqual(before);
    expect(texts('running')).toEqual(['first', 'second']);
    await indexJournal(search.connection, hint, 1, { newest: true, goesOn: async () => true });
    expect(numbers()).toEqual(before);
  });

  it('reads only the lines that were added to a journal', async () => {
    await home.addSession('grown', ['first', 'second', 'third']);
    const [header, ...lines] = (await readFile(home.journal('grown'), 'utf8')).split('\n');
    const added = lines.findIndex((line) => line.includes('third'));
    const before = lines.slice(0, added);
    await writeFile(home.journal('grown'), `${[header, ...before].join('\n')}\n`);
    await home.noteLength('grown');
    const { indexer, statements } = start();
    indexer.setFilling(true);
    await morePasses(statements);
    expect(texts('grown')).toEqual(['first', 'second']);
    const unreadable = before.map((line) => '#'.repeat(Buffer.byteLength(line)));
    await writeFile(home.journal('grown'), [header, ...unreadable, ...lines.slice(added)].join('\n'));
    await home.noteLength('grown');
    await eventually(() => expect(texts('grown')).toEqual(['first', 'second', 'third']));
    expect(indexer.failure()).toBeUndefined();
  });

  it('indexes a journal of another epoch from its start', async () => {
    const hint = await home.addSession('restored', ['before the backup', 'kept']);
    const { indexer } = start();
    indexer.hint([hint]);
    await eventually(() => expect(texts('restored')).toEqual(['before the backup', 'kept']));
    const journal = await readFile(home.journal('restored'), 'utf8');
    const [epoch = ''] = /ep_[0-9A-Z]{26}/.exec(journal) ?? [];
    const other = journal
      .replaceAll(epoch, `ep_${'0'.repeat(26)}`)
      .replaceAll('before the backup', 'after the backup.');
    await writeFile(home.journal('restored'), other);
    expect(Buffer.byteLength(other)).toBe(hint.length);
    indexer.hint([hint]);
    await eventually(() => expect(texts('restored')).toEqual(['after the backup.', 'kept']));
  });

  it('tries a session again that could not be written because another process wrote for long', async () => {
    const other = openSearchDb(folder.path);
    closeLater(other.db.close);
    const hint = await home.addSession('busy', ['waits']);
    const { indexer } = start();
    other.connection.transaction(() => {
      other.connection.run(`INSERT OR REPLACE INTO facts VALUES ('writer', '1')`);
      // Synchronously up to its first wait.
      indexer.hint([hint]);
    });
    indexer.setFilling(true);
    await eventually(() => expect(texts('busy')).toEqual(['waits']));
    await eventually(() => expect(indexer.failure()).toBeUndefined());
  });

  it('is not needed to try a session again that changed', async () => {
    const hint = await home.addSession('busy', ['waits']);
    let failures = 2;
    const { indexer } = start({
      connection: {
        ...search.connection,
        transaction(body) {
          if (failures-- > 0) throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
          return search.connection.transaction(body);
        },
      },
    });
    indexer.hint([hint]);
    await eventually(() => expect(texts('busy')).toEqual(['waits']));
    await eventually(() => expect(indexer.failure()).toBeUndefined());
  });

  it('does not undo an archival of which it had no row yet', async () => {
    const archived = await home.addSession('archived', ['text']);
    const first = start({ passEveryMs: 1_000_000 });
    first.indexer.setFilling(true);
    await eventually(() => expect(passes(first.statements)).toBe(1));
    first.indexer.close();
    for (const id of ['one', 'two']) await home.addSession(id, ['text']);
    let searches = 0;
    const { indexer, statements } = start({
      passEveryMs: 1_000_000,
      isSearching() {
        searches += 1;
        // Before the first session of the pass, whose rows are read.
        if (searches === 1) indexer.hint([{ ...archived, archived: true }]);
        return false;
      },
    });
    indexer.setFilling(true);
    await eventually(() => expect(passes(statements)).toBe(1));
    await eventually(() => expect(search.db.filled()).toBe(true));
    expect(shown()).not.toContain('archived');
  });

  it('does not make the index complete before the session index is', async () => {
    await home.addSession('known', ['text']);
    const sessions = createIndexDb({ home: folder.path, schema: indexSchema, log: createLogger('silent') });
    closeLater(sessions.close);
    sessions.run(({ run }) => run('DELETE FROM facts'));
    const { indexer, statements } = start();
    indexer.setFilling(true);
    const checks = () => statements.filter((sql) => sql.includes(`session_index.facts`)).length;
    await eventually(() => expect(checks()).toBeGreaterThan(2));
    expect(texts('known')).toEqual(['text']);
    // A row that is not there yet is no removed session.
    sessions.run(({ run }) => run('DELETE FROM sessions'));
    const before = checks();
    await eventually(() => expect(checks()).toBeGreaterThan(before + 2));
    expect(texts('known')).toEqual(['text']);
    expect(search.db.filled()).toBe(false);
    sessions.markFilled();
    await eventually(() => expect(search.db.filled()).toBe(true));
    expect(texts('known')).toEqual([]);
  });

  it('pauses while a query runs, also in the middle of a journal', async () => {
    for (const id of ['a', 'b']) await home.addSession(id, prompts(300));
    const written: number[] = [];
    let checks = 0;
    const { indexer } = start({
      passEveryMs: 1_000_000,
      isSearching() {
        checks += 1;
        // The query begins after some portions, and ends after as many checks as there are no portions left.
        const runs = checks > 4 && checks < 40;
        if (runs) written.push(texts('a').length + texts('b').length);
        return runs;
      },
    });
    indexer.setFilling(true);
    await eventually(() => expect(search.db.filled()).toBe(true));
    expect(written).toHaveLength(35);
    expect(new Set(written).size).toBe(1);
    expect(written[0]).toBeGreaterThan(0);
    expect(written[0]).toBeLessThan(600);
    expect(texts('a').length + texts('b').length).toBe(600);
  });

  it('rests as long as it works, also in the middle of a journal', async () => {
    await home.addSession('long', prompts(300));
    let [time, worked, rested] = [0, 0, 0];
    const rests: number[] = [];
    const { connection } = search;
    const { indexer } = start({
      passEveryMs: 1_000_000,
      connection: {
        ...connection,
        transaction(work) {
          connection.transaction(work);
          time += 40;
          worked += 40;
        },
      },
      newPace: () =>
        createFillPace(
          () => time,
          async (ms) => {
            time += ms;
            rested += ms;
            rests.push(worked - rested);
          },
        ),
    });
    indexer.setFilling(true);
    await eventually(() => expect(search.db.filled()).toBe(true));
    expect(texts('long')).toHaveLength(300);
    expect(rests.length).toBeGreaterThan(2);
    expect(new Set(rests)).toEqual(new Set([0]));
  });

  it('indexes a session that changed before the next portion of a long journal', async () => {
    const fresh = await home.addSession('fresh', ['just said']);
    await home.addSession('long', prompts(300));
    let foundAt: number | undefined;
    let checks = 0;
    const { indexer } = start({
      passEveryMs: 1_000_000,
      isSearching() {
        checks += 1;
        if (texts('fresh').length > 0) foundAt ??= checks;
        if (checks === 3) indexer.hint([fresh]);
        return false;
      },
    });
    indexer.setFilling(true);
    await eventually(() => expect(texts('long')).toHaveLength(300));
    expect(foundAt).toBe(4);
  });

  it('ends before its next portion if the lease was lost', async () => {
    for (let session = 0; session < 7; session += 1) await home.addSession(`s${session}`, ['text']);
    let portions = 0;
    const { indexer, statements } = start({
      portion: 3,
      passEveryMs: 1_000_000,
      checkLease() {
        portions += 1;
        indexer.setFilling(portions !== 3);
      },
    });
    indexer.setFilling(true);
    await eventually(() => expect(portions).toBe(3));
    expect(passes(statements)).toBe(0);
    expect(indexed()).toHaveLength(6);
    expect(search.db.filled()).toBe(false);
    // The lease is owned again.
    indexer.setFilling(true);
    await eventually(() => expect(indexed()).toHaveLength(7));
    await eventually(() => expect(search.db.filled()).toBe(true));
  });
});

it('a session that is restored while it is indexed is shown from then on', async () => {
  const hint = await home.addSession(
    'restored',
    Array.from({ length: 200 }, (_, turn) => `text ${turn}`),
  );
  const { connection } = search;
  let [hidden, settings] = [0, 0];
  let isRestored = false;
  const { indexer } = start({
    connection: {
      ...connection,
      transaction(work) {
        connection.transaction(work);
        if (!isRestored) indexer.hint([hint]);
        isRestored = true;
      },
      run(sql, binding) {
        const changed = connection.run(sql, binding);
        if (isRestored && !shown().includes('restored')) hidden += 1;
        if (sql.includes('SET archived')) settings += 1;
        return changed;
      },
    },
  });
  indexer.hint([{ ...hint, archived: true }]);
  // When each hint arrives, and after it is indexed.
  await eventually(() => expect(settings).toBe(4));
  expect(texts('restored')).toHaveLength(200);
  expect(shown()).toContain('restored');
  expect(hidden).toBe(0);
});

it('a session that changes again before it is indexed is indexed to its present end', async () => {
  const hint = await home.addSession('changing', ['earlier', 'later']);
  const { indexer } = start({ db: { ...search.db, refresh: async () => false } });
  const earlier = await readFile(home.journal('changing'), 'utf8');
  indexer.hint([{ ...hint, length: Buffer.byteLength(earlier.split('\n').slice(0, 2).join('\n')) + 1 }]);
  // Before the turn of the event loop in which the first one is taken.
  for (let step = 0; step < 5; step += 1) await Promise.resolve();
  indexer.hint([hint]);
  await eventually(() => expect(texts('changing')).toEqual(['earlier', 'later']));
});

it('many sessions that changed leave time for other work between them', async () => {
  const added: Hint[] = [];
  for (let session = 0; session < 20; session += 1) added.push(await home.addSession(`s${session}`, ['text']));
  const order: string[] = [];
  let isOver = false;
  const turn = () => {
    // A read of a file takes any number of turns.
    if (order.at(-1) !== 'other work') order.push('other work');
    if (!isOver) setImmediate(turn);
  };
  const { connection } = search;
  const { indexer } = start({
    connection: {
      ...connection,
      run(sql, binding) {
        // The last statement of each session.
        if (sql.includes('SET archived')) order.push('session');
        return connection.run(sql, binding);
      },
    },
  });
  indexer.hint(added);
  // When each hint arrives, and after it is indexed.
  await eventually(() => expect(order).toHaveLength(40));
  // Nothing is new, so that no transaction is written.
  order.length = 0;
  indexer.hint(added);
  expect(order.splice(0)).toHaveLength(20);
  setImmediate(turn);
  const sessions = () => order.flatMap((what, place) => (what === 'session' ? [place] : []));
  await eventually(() => expect(sessions()).toHaveLength(20)).finally(() => (isOver = true));
  for (const place of sessions().slice(1)) expect(order[place - 1]).toBe('other work');
});
