import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { searchRequestSchema } from '#schema/rest/search.ts';
import { createLogger } from '#server/logging/log.ts';
import { entering, event, internal } from '#server/journal/records.ts';
import type { SearchAnswer } from '#server/search/messages.ts';
import { openSearchThread } from '#server/search/open-thread.ts';
import { parseQuery } from '#server/search/query.ts';
import { eventually } from '#support/patience.ts';
import { integer, seeded } from '#support/random.ts';
import { integrityOf, searchFile } from '#support/search-file.ts';
import { openLog, useTemporaryFolder } from '#support/session-logs.ts';

const ABORTED = 1_000;
const MESSAGES = 200;
const SEARCHERS = 20;
const LOG_BYTES = 8 * 1024 * 1024;
const ID = 'session_1';

const folder = useTemporaryFolder({ inMemory: true });

it('1,000 aborted searches while messages are indexed leave a write-ahead log of at most 8 MB', async () => {
  const random = seeded(5);
  const word = () => integer(random, 100_000).toString(36);
  const sessionsDir = join(folder.path, 'sessions');
  const dir = join(sessionsDir, ID);
  const { log } = await openLog(dir, { sink: { publish() {} } });
  await log.claim();
  log.append([
    event('main', 'agent.created', {}, { kind: 'main' }),
    internal('main', 'agent.config', { model: 'm1', permission: 'manual', maxContextTokens: 1000 }),
  ]);
  const thread = openSearchThread({
    options: {
      path: searchFile(folder.path),
      sessionIndex: join(folder.path, 'none'),
      sessionsDir,
      passEveryMs: 1_000,
    },
    events: { onDeath: () => undefined, onCheckLease: () => undefined },
    log: createLogger('silent'),
  });
  onTestFinished(async () => {
    await thread.close();
    await log.close();
  });
  const search = async (query: string, signal: AbortSignal) => {
    const job = { query: parseQuery(searchRequestSchema.parse({ query, op: 'OR' }), undefined), size: 20 };
    return (await thread.request({ kind: 'search', job }, { signal })) as SearchAnswer;
  };
  const patient = new AbortController().signal;
  await search('ibis', patient);

  const done = new AbortController();
  let [aborted, messages] = [0, 0];
  async function searchAndLeave(): Promise<void> {
    while (!done.signal.aborted) {
      const caller = new AbortController();
      const answer = search(`${word()} ${word()} ibis`, caller.signal);
      answer.catch(() => {
        aborted += 1;
        if (aborted === ABORTED) done.abort();
      });
      await delay(integer(random, 5));
      caller.abort(new Error('gone'));
      await answer.catch(() => undefined);
    }
  }
  async function write(): Promise<void> {
    while (!done.signal.aborted || messages < MESSAGES) {
      const text = `An ibis. ${Array.from({ length: 3_000 }, word).join(' ')}`;
      const id = `msg_${messages}`;
      const content = [{ type: 'text' as const, text }];
      log.append([
        entering('main', [{ role: 'user', content, toolCalls: [], origin: { kind: 'user' }, id }], { cause: 'input' }),
      ]);
      const hint = { id: ID, workspaceId: 'wd_1', archived: false, folder: dir, length: log.length };
      thread.send({ kind: 'hints', hints: [hint] });
      messages += 1;
      await delay(2);
    }
  }
  await Promise.all([write(), ...Array.from({ length: SEARCHERS }, searchAndLeave)]);
  await eventually(async () => expect((await search('ibis', patient)).documents).toBe(messages));
  const { size } = await stat(`${searchFile(folder.path)}-wal`);
  expect(size).toBeGreaterThan(0);
  expect(size).toBeLessThanOrEqual(LOG_BYTES);
  expect(integrityOf(folder.path)).toEqual(['ok']);
});
