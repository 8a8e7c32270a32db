/**
 * The session list at 100 and at 10,000 sessions: a page must not cost more where there are more sessions. Prints the
 * median of each query and the ratio of the two sizes.
 *
 *     node --import jiti/register bench/session-list.ts
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../server/log.ts';
import { createSessionIndex, type SessionIndex } from '../server/sessions/session-index.ts';
import type { PageQuery } from '../server/sessions/session-page.ts';
import { createIndexDb } from '../server/storage/index-db.ts';

const SIZES = [100, 10_000] as const;
const WORKSPACES = 2;
const ROUNDS = 300;
const limit = 50;

const id = (place: number) => `session_${String(place).padStart(8, '0')}`;
const workspaceIdOf = (place: number) => `wd_project_${String(place % WORKSPACES).padStart(12, '0')}`;

function fill(index: SessionIndex, size: number): void {
  for (let place = 0; place < size; place++) {
    index.upsert({
      id: id(place),
      workspaceId: workspaceIdOf(place),
      cwd: `/projects/${place % WORKSPACES}`,
      title: `Session number ${place}`,
      titleKind: 'replaceable',
      lastPrompt: place % 3 === 0 ? undefined : `Please look at part ${place} of the program and mend it`,
      lastTurnReason: 'completed',
      createdAt: 1_700_000_000_000 + place,
      // Many ties, so that the order by id has work to do.
      updatedAt: 1_700_000_000_000 + Math.floor(place / 7),
      archived: place % 4 < 2,
      custom: { client: 'bench' },
      open: false,
    });
  }
}

function medianMs(work: () => unknown): number {
  const times = Array.from({ length: ROUNDS }, () => {
    const begun = performance.now();
    work();
    return performance.now() - begun;
  }).sort((a, b) => a - b);
  return times[Math.floor(ROUNDS / 2)] ?? Number.NaN;
}

/** What a client sends, by name; `size` places the cursor in the middle. */
const queries = (size: number): Record<string, PageQuery> => {
  const busyIds = Array.from({ length: 5 }, (_, place) => id(place * 4 + 2));
  return {
    'first page': { archived: 'exclude', limit },
    'page after a cursor': { archived: 'exclude', limit, cursor: { side: 'before', id: id(size / 2) } },
    'with archived ones': { archived: 'include', limit },
    'archived only': { archived: 'only', limit },
    'without empty ones': { archived: 'exclude', excludeEmpty: true, limit },
    'one workspace': { archived: 'exclude', workspaceIds: [workspaceIdOf(1)], limit },
    'one workspace, two ids': { archived: 'include', workspaceIds: [workspaceIdOf(1), 'wd_alias_000000000000'], limit },
    'idle ones': { archived: 'exclude', busy: { wanted: false, ids: busyIds }, limit },
    'busy ones': { archived: 'exclude', busy: { wanted: true, ids: busyIds }, limit },
    children: { archived: 'exclude', parentId: id(1), limit },
  };
};

async function measure(size: number): Promise<Map<string, number>> {
  const home = mkdtempSync(join(tmpdir(), 'bench-'));
  const log = createLogger('silent');
  const db = createIndexDb({ home, log });
  const index = createSessionIndex({ db, log, sessionsDir: join(home, 'sessions'), read: async () => undefined });
  try {
    fill(index, size);
    const pages = Object.entries(queries(size)).map(
      ([name, query]) => [name, medianMs(() => index.list(query))] as const,
    );
    const others = [
      [
        'counts of all workspaces',
        medianMs(() => index.countByWorkspace(Array.from({ length: WORKSPACES }, (_, n) => workspaceIdOf(n)))),
      ],
      ['directories', medianMs(() => index.workDirs())],
      ['one session', medianMs(() => index.get(id(7)))],
      ['upsert', medianMs(() => fill(index, 1))],
    ] as const;
    return new Map([...pages, ...others]);
  } finally {
    await index.close();
    rmSync(home, { recursive: true });
  }
}

const [few, many] = [await measure(SIZES[0]), await measure(SIZES[1])];
process.stdout.write(`${'median ms'.padEnd(28)}${SIZES.map((size) => String(size).padStart(10)).join('')}     ratio\n`);
for (const [name, small] of few) {
  const large = many.get(name) ?? Number.NaN;
  const columns = [small.toFixed(3), large.toFixed(3), (large / small).toFixed(1)].map((text) => text.padStart(10));
  process.stdout.write(`${name.padEnd(28)}${columns.join('')}\n`);
}
