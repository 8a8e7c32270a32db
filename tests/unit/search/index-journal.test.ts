import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { event, internal } from '#server/journal/records.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import { indexJournal, type IndexingOptions } from '#server/search/index-journal.ts';
import { seeded } from '#support/random.ts';
import { createDriver } from '#support/session-histories.ts';
import { openLog, temporaryFolder } from '#support/session-logs.ts';
import { documentsOf, openSearchDb, type SearchDb } from './search-db.ts';

const HISTORIES = 500;
const LINES = 24;
const options: IndexingOptions = { newest: true, goesOn: async () => true };

let root: string;
let remove: () => Promise<void>;
let search: SearchDb;
beforeAll(async () => {
  ({ path: root, remove } = await temporaryFolder({ inMemory: true }));
  search = openSearchDb(root);
});
afterAll(async () => {
  search.db.close();
  await remove();
});

const source = (id: string, folder: string) => ({ id, workspaceId: 'wd_1', archived: false, folder });

const index = (id: string, folder: string, length = Infinity) =>
  indexJournal(search.connection, source(id, folder), length, options);

/** Number of prompts in the history that clients read. */
async function promptsOf(log: SessionLog): Promise<number> {
  const { history } = log.state.messages;
  const users = history.flatMap(({ role, id }, index) => (role === 'user' && id !== undefined ? [index] : []));
  const messages = await log.readMessages(users);
  return messages.filter(({ metadata }) => metadata?.origin.kind === 'user').length;
}

/** Indexes a random session now and then while it grows, and once when it is complete. */
async function check(seed: number): Promise<void> {
  const random = seeded(seed * 31);
  const dir = join(root, `session-${seed}`);
  const { log } = await openLog(dir, { sink: { publish() {} } });
  await log.claim();
  log.append([
    event('main', 'agent.created', {}, { kind: 'main' }),
    internal('main', 'agent.config', { model: 'm1', permission: 'manual', maxContextTokens: 1000 }),
  ]);
  const driver = createDriver(log, seeded(seed));
  for (let line = 0; line < LINES; line += 1) {
    await driver.step();
    if (random() < 0.2) await index(`followed-${seed}`, dir, log.length);
  }
  const prompts = await promptsOf(log);
  await log.close();
  await index(`followed-${seed}`, dir);
  await index(`rebuilt-${seed}`, dir);
  const rebuilt = documentsOf(search.connection, `rebuilt-${seed}`);
  expect(documentsOf(search.connection, `followed-${seed}`), `history ${seed}`).toEqual(rebuilt);
  expect(rebuilt.filter(({ agent, role }) => agent === 'main' && role === 'user')).toHaveLength(prompts);
}

describe('the index of a journal', () => {
  it('is the same whenever it was read, and has the prompts of the history', async () => {
    for (let seed = 1; seed <= HISTORIES; seed += 10) {
      await Promise.all(Array.from({ length: 10 }, (_, offset) => check(seed + offset)));
    }
  });

  it('leaves time for other work between its transactions', async () => {
    const dir = join(root, 'long');
    const { log } = await openLog(dir, { sink: { publish() {} } });
    await log.claim();
    const parts = Array.from({ length: 70 }, (_, part) => ({ type: 'text' as const, text: `part ${part}` }));
    for (let step = 1; step <= 3; step += 1) {
      log.append([
        internal('main', 'step.response', { turnId: 0, step, stepId: `s${step}`, parts, calls: [], model: 'm1' }),
      ]);
    }
    await log.close();
    const order: string[] = [];
    let isOver = false;
    const turn = () => {
      // A read of the journal takes any number of turns.
      if (order.at(-1) !== 'other work') order.push('other work');
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    const goesOn = async () => {
      order.push('transaction');
      return true;
    };
    await indexJournal(search.connection, source('long', dir), Infinity, { newest: true, goesOn });
    isOver = true;
    const transactions = order.flatMap((what, place) => (what === 'transaction' ? [place] : []));
    expect(transactions.length).toBeGreaterThanOrEqual(3);
    for (const place of transactions) expect(order[place - 1]).toBe('other work');
  });
});
