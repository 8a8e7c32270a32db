/** A session with a scheduled job that an earlier version wrote: its index had version 6, its `state.json` no `wakes`. */
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import * as z from 'zod';
import { sessionSchema } from '#schema/rest/session.ts';
import { createLogger } from '#server/logging/log.ts';
import { createIndexDb } from '#server/storage/index-db.ts';
import { writeIndexV7 } from '#support/index-v7.ts';
import { manualClock, type ManualClock } from '#support/manual-clock.ts';
import { eventually } from '#support/patience.ts';
import { resumeTalk, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

const FIXTURE = join(import.meta.dirname, '../fixtures/earlier-home');
const ID = 'session_9d61f265-011c-4287-b125-026da11c9fb9';
/** When its server stopped. The job is due at the 5th minute of each hour. */
const STOPPED = Date.parse('2026-11-25T09:46:52.627Z');
const HOUR = 3_600_000;

let clock: ManualClock;
let world: World;
beforeEach(async () => {
  clock = manualClock(STOPPED + HOUR);
  world = await startWorld({ clock, config: { cron: { no_jitter: true }, default_permission_mode: 'yolo' } });
});
afterEach(() => world.close());

const cache = () => join(world.server.home, 'cache');
const isLoaded = (id: string) => world.server.app.sessions.liveRow(id) !== undefined;

/** Writes the session's folder as the earlier version left it, with the paths of this home. */
async function placeSession(workspace: string): Promise<void> {
  const dir = join(world.server.home, 'sessions', workspace, ID);
  const here: Record<string, string> = { project: world.project, workspace };
  const read = async (name: string) => {
    const text = await readFile(join(FIXTURE, name), 'utf8');
    return text.replaceAll(/@([a-z]+)@/g, (_, key: string) => here[key] ?? '');
  };
  await mkdir(dir, { recursive: true });
  await cp(join(FIXTURE, 'blobs'), join(dir, 'blobs'), { recursive: true });
  const journal = await read('journal.ndjson');
  await writeFile(join(dir, 'journal.ndjson'), journal);
  const state = z
    .looseObject({ cron: z.literal(true), wakes: z.undefined().optional() })
    .parse(JSON.parse(await read('state.json')));
  await writeFile(join(dir, 'state.json'), JSON.stringify({ ...state, journalLength: Buffer.byteLength(journal) }));
  // A released lock: the journal is not read.
  await writeFile(join(dir, 'lock.1'), '');
}

/** Writes the session's row in a file of the earlier index. */
async function placeIndex(workspace: string): Promise<void> {
  await mkdir(cache(), { recursive: true });
  const sql = `
    CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE sessions (id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL, cron INTEGER NOT NULL);`;
  const db = createIndexDb({ home: world.server.home, schema: { version: 6, sql }, log: createLogger('silent') });
  db.run(({ run }) => run('INSERT INTO sessions VALUES (@id, @workspace, 1)', { id: ID, workspace }));
  db.markFilled();
  db.close();
}

/** Starts a server on that home whose own index is empty. */
async function startOnEarlierHome(withIndex: boolean): Promise<void> {
  const data = await world.ok('POST', '/workspaces', { root: world.project });
  const { id: workspace } = z.looseObject({ id: z.string() }).parse(data);
  await world.restart(async () => {
    await rm(cache(), { recursive: true });
    await placeSession(workspace);
    if (withIndex) await placeIndex(workspace);
  });
}

/** Watches a session that exists. */
async function talkOf(id: string): Promise<Talk> {
  return resumeTalk(world, sessionSchema.parse(await world.ok('GET', `/sessions/${id}`)));
}

it.each([
  ['beside the earlier index', true],
  ['without any index', false],
])('a job that is due fires after the start %s, and after later starts', async (_, withIndex) => {
  await startOnEarlierHome(withIndex);
  world.model.enqueue({ text: 'Green.' });
  clock.advance(100);
  await eventually(() => expect(isLoaded(ID)).toBe(true));
  const talk = await talkOf(ID);
  await talk.nth('turn.ended', 2);
  expect(talk.all('cron.fired')).toMatchObject([{ payload: { prompt: 'Look at the build' } }]);
  await talk.events.close();

  await world.restart(() => rm(cache(), { recursive: true }));
  world.model.enqueue({ text: 'Green again.' });
  clock.advance(HOUR);
  await eventually(() => expect(isLoaded(ID)).toBe(true));
  const again = await talkOf(ID);
  await again.nth('turn.ended', 3);
  expect(again.all('cron.fired')).toHaveLength(2);
});

it('a copy of such a session is loaded and has the job', async () => {
  await startOnEarlierHome(false);
  // The session itself stays cold: what wakes is not loaded before this time has passed.
  const { id } = sessionSchema.parse(await world.ok('POST', `/sessions/${ID}:fork`, {}));
  expect([ID, id].map(isLoaded)).toEqual([false, true]);
  world.model.enqueue({ text: 'Green.' });
  world.model.enqueue({ text: 'Green.' });
  clock.advance(100);
  for (const one of [ID, id]) {
    const talk = await talkOf(one);
    await talk.nth('cron.fired', 1);
    await talk.nth('turn.ended', one === ID ? 2 : 1);
  }
});

it('takes over the rows of the index of version 7, whose file is removed afterwards', async () => {
  const data = await world.ok('POST', '/workspaces', { root: world.project });
  const { id: workspaceId } = z.looseObject({ id: z.string() }).parse(data);
  const id = 'session_of_version_7';
  await world.restart(async () => {
    await rm(cache(), { recursive: true });
    // A folder without a readable session: the title is only in the row.
    await mkdir(join(world.server.home, 'sessions', workspaceId, id), { recursive: true });
    writeIndexV7(world.server.home, [{ id, workspaceId, cwd: world.project, title: 'Of the row' }]);
  });
  const earlier = async () => (await readdir(cache())).filter((name) => name.includes('v7'));
  // Nothing needs the index yet, and nothing removes the file before its rows are taken over.
  for (let count = 0; count < 20; count++) await world.ok('GET', '/meta');
  expect(await earlier()).toContain('index-v7.db');
  clock.advance(100);
  await eventually(async () => expect(await earlier()).toEqual([]));
  expect(await world.ok('GET', `/sessions/${id}`)).toMatchObject({ title: 'Of the row' });
});
