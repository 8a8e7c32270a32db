/** The pass over the folders of all sessions in the built server: its thread never delays an end, and a later pass continues. */
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { createLogger } from '#server/logging/log.ts';
import { indexSchema, stateText } from '#server/sessions/index/session-header.ts';
import { createIndexDb, indexPath } from '#server/storage/index-db.ts';
import { makeBuiltHome, type BuiltHome } from '#support/built-home.ts';
import { eventually } from '#support/patience.ts';
import { spawnServer } from '#support/spawned-server.ts';
import { sessionRow } from '../unit/sessions/index/index-fixtures.ts';

const SESSIONS = 3000;

let built: BuiltHome;
beforeAll(async () => {
  built = await makeBuiltHome();
  for (let place = 0; place < SESSIONS; place += 1) await writeFolder(`session_${place}`);
});
afterAll(() => built.remove());

async function writeFolder(id: string): Promise<void> {
  const header = sessionRow(id, { cwd: built.project });
  const dir = join(built.home, 'sessions', header.workspaceId, id);
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, 'state.json'), stateText({ header, revision: 1, journalLength: 0 }));
}

const counted = z.tuple([z.object({ sessions: z.number() })]);

/** Number of sessions in the index, read while a server writes it. */
function indexed(): number {
  if (!existsSync(indexPath(built.home, indexSchema))) return 0;
  const db = createIndexDb({ home: built.home, schema: indexSchema, log: createLogger('silent') });
  try {
    const [{ sessions }] = counted.parse(db.run(({ all }) => all('SELECT count(*) AS sessions FROM sessions')));
    return sessions;
  } finally {
    db.close();
  }
}

it.each([
  ['SIGTERM', 0],
  ['SIGKILL', null],
] as const)('%s during the first pass leaves an index that the next pass completes', async (signal, code) => {
  await rm(join(built.home, 'cache'), { recursive: true, force: true });
  const server = await spawnServer({ home: built.home });
  const printed = server.output();
  await eventually(() => expect(indexed()).toBeGreaterThan(0));
  expect(await server.stop(signal)).toBe(code);
  expect(server.output().slice(printed.length)).not.toMatch(/abort|error|fatal/i);

  const next = await spawnServer({ home: built.home });
  const { data } = await next.api('GET', '/api/v2/sessions?page_size=1');
  expect(data).toMatchObject({ total: SESSIONS });
  expect(await next.stop()).toBe(0);
});
