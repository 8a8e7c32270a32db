/** The session list with 100 and with 10,000 sessions: the cost of a page must not depend on their number. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, bench, describe } from 'vitest';
import { createLogger } from '#server/logging/log.ts';
import { createSessionIndex, type SessionIndex } from '#server/sessions/index/session-index.ts';
import type { PageQuery } from '#server/sessions/index/session-page.ts';
import { indexSchema } from '#server/sessions/index/session-header.ts';
import { createIndexDb } from '#server/storage/index-db.ts';

const SIZES = [100, 10_000];
const WORKSPACES = 2;
const limit = 50;

const id = (place: number) => `session_${String(place).padStart(8, '0')}`;
const workspaceId = (place: number) => `wd_project_${String(place % WORKSPACES).padStart(12, '0')}`;

function fill(index: SessionIndex, size: number): void {
  for (let place = 0; place < size; place++) {
    index.upsert(
      {
        id: id(place),
        workspaceId: workspaceId(place),
        cwd: `/projects/${place % WORKSPACES}`,
        title: `Session number ${place}`,
        titleKind: 'replaceable',
        lastPrompt: place % 3 === 0 ? undefined : `Please look at part ${place} of the program and mend it`,
        lastTurnReason: 'completed',
        createdAt: 1_700_000_000_000 + place,
        // Many equal times, so that the order by id is relevant.
        updatedAt: 1_700_000_000_000 + Math.floor(place / 7),
        archived: place % 4 < 2,
        custom: { client: 'bench' },
        open: false,
        settled: false,
        wakes: [],
      },
      0,
    );
  }
}

/** Queries of clients, by name; `size` places the cursor in the middle. */
function queries(size: number): Record<string, PageQuery> {
  const busyIds = Array.from({ length: 5 }, (_, place) => id(place * 4 + 2));
  return {
    'first page': { archived: 'exclude', limit },
    'page after a cursor': { archived: 'exclude', limit, cursor: { side: 'before', id: id(size / 2) } },
    'archived only': { archived: 'only', limit },
    'without empty ones': { archived: 'exclude', excludeEmpty: true, limit },
    'one workspace': { archived: 'exclude', workspaceIds: [workspaceId(1)], limit },
    'idle ones': { archived: 'exclude', busy: { wanted: false, ids: busyIds }, limit },
    'busy ones': { archived: 'exclude', busy: { wanted: true, ids: busyIds }, limit },
  };
}

const indexes = new Map<number, { index: SessionIndex; home: string }>();

beforeAll(async () => {
  const log = createLogger('silent');
  for (const size of SIZES) {
    const home = mkdtempSync(join(tmpdir(), 'service-code-bench-'));
    const db = createIndexDb({ home, schema: indexSchema, log });
    const index = createSessionIndex({ db, log, sessionsDir: join(home, 'sessions'), read: async () => undefined });
    await index.ready();
    fill(index, size);
    indexes.set(size, { index, home });
  }
});

afterAll(async () => {
  for (const { index, home } of indexes.values()) {
    await index.close();
    rmSync(home, { recursive: true });
  }
});

for (const name of Object.keys(queries(0))) {
  describe(name, () => {
    for (const size of SIZES) {
      const query = queries(size)[name];
      bench(
        `${size} sessions`,
        () => {
          if (query) indexes.get(size)?.index.list(query);
        },
        { time: 200 },
      );
    }
  });
}
