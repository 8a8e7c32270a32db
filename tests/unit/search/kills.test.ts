import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { searchRequestSchema } from '#schema/rest/search.ts';
import { event, internal } from '#server/journal/records.ts';
import { budgetLimits } from '#server/search/budget.ts';
import { indexJournal } from '#server/search/index-journal.ts';
import { parseQuery } from '#server/search/query.ts';
import { findPage } from '#server/search/run-query.ts';
import { eventually } from '#support/patience.ts';
import { buildProgram, programFolder, startProgram } from '#support/programs.ts';
import { integer, seeded } from '#support/random.ts';
import { integrityOf } from '#support/search-file.ts';
import { createDriver } from '#support/session-histories.ts';
import { openLog, temporaryFolder } from '#support/session-logs.ts';
import { documentsOf, openSearchDb, type SearchDb } from './search-db.ts';
import { openSearchHome, WORKSPACE, type SearchHome } from './search-home.ts';

const KILLS = 30;
/** The later ones are in the middle of the indexing of changes. */
const KILLS_OF_FILL = 20;
const COLD = 12;
const LIVE = 3;
const PROMPTS = 80;
const limits = { ...budgetLimits, milliseconds: Infinity };
const random = seeded(41);
const wordsOf = (count: number) => Array.from({ length: count }, () => integer(random, 2_000).toString(36)).join(' ');

let program: string;
let root: string;
let home: SearchHome;
const closers: (() => unknown)[] = [];
beforeAll(async () => {
  const programs = await programFolder();
  closers.push(() => rm(programs, { recursive: true }));
  program = await buildProgram('search-filler', programs);
  const { path, remove } = await temporaryFolder({ inMemory: true });
  root = path;
  home = openSearchHome(root);
  closers.push(remove, home.close);
});
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
});

const coldIds = Array.from({ length: COLD }, (_, index) => `cold-${index}`);
const folderOf = (id: string) => join(home.sessionsDir, WORKSPACE, id);

/** A session that grows: `grow` appends random records to its journal, with undos and forks of the conversation. */
async function openLive(id: string, seed: number) {
  const { log } = await openLog(folderOf(id), { sink: { publish() {} } });
  await log.claim();
  onTestFinished(() => log.close());
  log.append([
    event('main', 'agent.created', {}, { kind: 'main' }),
    internal('main', 'agent.config', { model: 'm1', permission: 'manual', maxContextTokens: 1000 }),
  ]);
  const driver = createDriver(log, seeded(seed));
  return {
    id,
    async grow() {
      await driver.step();
      return home.noteLength(id);
    },
  };
}

/** The hits of some queries, with what their scores depend on. */
async function hitsOf({ connection }: SearchDb) {
  const hits = [];
  for (const [query, mode] of [
    ['a b c d e', 'terms'],
    ['1a', 'literal'],
    ['text', 'literal'],
  ] as const) {
    const request = { query: parseQuery(searchRequestSchema.parse({ query, mode, op: 'OR' }), undefined), size: 50 };
    const page = await findPage(connection, { ...request, limits, checkAborted: () => undefined });
    hits.push(
      page.matches.map(({ sessionId, key, score }) => ({ sessionId, key, score })),
      page.frequencies,
    );
  }
  return hits;
}

/** Resolves when all cold sessions are indexed. */
async function filled(): Promise<void> {
  const { connection, db } = openSearchDb(root);
  try {
    await eventually(() => {
      for (const id of coldIds) expect(documentsOf(connection, id)).toHaveLength(PROMPTS);
    });
  } finally {
    db.close();
  }
}

it(`${KILLS} kills of the process that indexes leave the file intact, and in the end the documents of a rebuild`, async () => {
  const prompts = () => Array.from({ length: PROMPTS }, () => wordsOf(40));
  for (const id of coldIds) await home.addSession(id, prompts());
  const live = await Promise.all(Array.from({ length: LIVE }, (_, index) => openLive(`live-${index}`, 100 + index)));
  const ids = [...live.map(({ id }) => id), ...coldIds];

  for (let kill = 0; kill < KILLS; kill += 1) {
    const filler = startProgram(program, [root, home.sessionsDir]);
    await once(filler, 'message');
    const exited = once(filler, 'exit');
    if (kill === KILLS_OF_FILL) await filled();
    const until = performance.now() + integer(random, 250);
    for (let step = 0; step < 4 || performance.now() < until; step += 1) {
      const session = live[step % LIVE];
      if (session && step < 12) filler.send(await session.grow());
      await delay(integer(random, 10));
    }
    filler.kill('SIGKILL');
    expect(await exited).toEqual([null, 'SIGKILL']);
    expect(integrityOf(root)).toEqual(['ok']);
  }

  const rebuiltHome = await temporaryFolder({ inMemory: true });
  onTestFinished(rebuiltHome.remove);
  const rebuilt = openSearchDb(rebuiltHome.path);
  onTestFinished(rebuilt.db.close);
  for (const id of ids) {
    const source = { id, workspaceId: WORKSPACE, archived: false, folder: folderOf(id) };
    await indexJournal(rebuilt.connection, source, Infinity, { newest: true, goesOn: async () => true });
  }
  const filler = startProgram(program, [root, home.sessionsDir]);
  const survivor = openSearchDb(root);
  onTestFinished(() => {
    filler.kill('SIGKILL');
    survivor.db.close();
  });
  const documents = (search: SearchDb) => ids.map((id) => documentsOf(search.connection, id));
  const expected = documents(rebuilt);
  await eventually(() => expect(documents(survivor)).toEqual(expected));
  expect(await hitsOf(survivor)).toEqual(await hitsOf(rebuilt));
  expect(integrityOf(root)).toEqual(['ok']);
});
