/** The v2 session list with 10,000 and with 100,000 sessions. Aims: a page 10 ms, by workspace 40 ms, 10,000 projected 100 ms. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, bench, describe } from 'vitest';
import { createLogger } from '#server/logging/log.ts';
import { indexSchema } from '#server/sessions/index/session-header.ts';
import { createSessionIndex, type SessionIndex } from '#server/sessions/index/session-index.ts';
import { readListing } from '#server/sessions/listing/session-listing.ts';
import { createIndexDb } from '#server/storage/index-db.ts';
import { listingQuery } from '#utils/session-listing-query.ts';

const SIZES = [10_000, 100_000];
const WORKSPACES = 40;
const START = 1_700_000_000_000;

const workspaceId = (place: number) => `wd_project_${String(place % WORKSPACES).padStart(12, '0')}`;

function fill(index: SessionIndex, size: number): void {
  for (let place = 0; place < size; place++) {
    index.upsert(
      {
        id: `session_${String((place * 7919) % size).padStart(8, '0')}`,
        workspaceId: workspaceId(place),
        cwd: `/projects/${place % WORKSPACES}`,
        title: `Session number ${place}`,
        titleKind: 'replaceable',
        lastPrompt: place % 3 === 0 ? undefined : `Please look at part ${place} of the program and mend it`,
        lastTurnReason: place % 20 === 7 ? 'failed' : 'completed',
        createdAt: START + place,
        // Equal times, so that the order by id is relevant.
        updatedAt: START + Math.floor(place / 3),
        archived: place % 10 === 1,
        custom: { client: 'bench' },
        open: false,
        settled: false,
        wakes: [],
      },
      0,
    );
  }
}

const queries: Record<string, Record<string, string | string[]>> = {
  'first page': {},
  'a page of all sessions, archived ones included': { 'meta.archived': 'all' },
  'a deep page': { page: '150' },
  'failed ones': { 'activity.status': 'failed' },
  'idle ones with a prompt': { 'activity.status': 'idle', 'meta.has_prompt': 'true' },
  'one workspace': { 'workspace.id': workspaceId(3) },
  'half of the workspaces': {
    'workspace.id': Array.from({ length: WORKSPACES / 2 }, (_, place) => workspaceId(place)),
  },
  'within time bounds': { 'meta.updated_after': String(START + 1_000), 'meta.updated_before': String(START + 30_000) },
  'by creation, with a prompt': { sort: 'meta.created_at_desc', 'meta.has_prompt': 'true' },
  'by workspace': { view: 'by_workspace' },
  'by workspace and creation': { view: 'by_workspace', sort: 'meta.created_at_desc', 'meta.archived': 'all' },
  '10,000 projected': { fields: 'id,archived', page_size: '10000' },
};

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
}, 300_000);

afterAll(async () => {
  for (const { index, home } of indexes.values()) {
    await index.close();
    rmSync(home, { recursive: true });
  }
});

const live = { all: () => [], get: () => undefined };
const gitFacts = { read: async () => new Map() };
const workspaces = { byId: async () => new Map() };

for (const [name, parameters] of Object.entries(queries)) {
  describe(name, () => {
    for (const size of SIZES) {
      const query = listingQuery.parse(parameters);
      bench(
        `${size} sessions`,
        async () => {
          const entry = indexes.get(size);
          if (entry) await readListing(query, { index: entry.index, live, workspaces, gitFacts });
        },
        { time: 200 },
      );
    }
  });
}
