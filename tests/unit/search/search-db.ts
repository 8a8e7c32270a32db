/** A search index in a temporary home, and its content in a form that tests compare. */
import { afterAll, beforeAll } from 'vitest';
import * as z from 'zod';
import { createLogger } from '#server/logging/log.ts';
import { createDerivedDb, type Connection, type IndexDb } from '#server/storage/derived-db.ts';
import { libsqlFile } from '#server/storage/index-db.ts';
import { searchSchema } from '#server/search/tables.ts';
import { searchFile } from '#support/search-file.ts';
import { temporaryFolder } from '#support/session-logs.ts';

export interface SearchDb {
  db: IndexDb;
  connection: Connection;
}

export function openSearchDb(home: string): SearchDb {
  const db = createDerivedDb({
    path: searchFile(home),
    name: 'the search index',
    schema: searchSchema,
    libsql: libsqlFile,
    log: createLogger('silent'),
  });
  return { db, connection: db.run((connection) => connection) };
}

/** An index that all tests of the calling file use; `fill` adds its documents. */
export function useSearchDb(fill: (connection: Connection) => void): { readonly connection: Connection } {
  let search: SearchDb | undefined;
  let remove = async () => {};
  beforeAll(async () => {
    const folder = await temporaryFolder({ inMemory: true });
    remove = folder.remove;
    search = openSearchDb(folder.path);
    fill(search.connection);
  });
  afterAll(async () => {
    search?.db.close();
    await remove();
  });
  return {
    get connection() {
      if (!search) throw new Error('the index exists only during a test');
      return search.connection;
    },
  };
}

const documentRows = z.array(
  z.object({
    key: z.string(),
    agent: z.string(),
    role: z.string(),
    time: z.number(),
    turn: z.number().nullable(),
    step: z.number().nullable(),
    terms: z.number(),
    text: z.string(),
  }),
);

/** All documents of a session, by key. */
export function documentsOf({ all }: Connection, id: string) {
  return documentRows.parse(
    all(
      `SELECT d.key, d.agent, d.role, d.time, d.turn, d.step, d.terms, t.text FROM documents d
       JOIN texts t ON t.number = d.number JOIN sessions s ON s.number = d.session WHERE s.id = @id ORDER BY d.key`,
      { id },
    ),
  );
}
