/** The SQLite file of all session lists: `cache/index-v<n>.db`. Each server of a home sees the others' sessions immediately. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Logger } from '#server/logging/log.ts';
import { createDerivedDb, type IndexDb, type IndexSchema } from './derived-db.ts';

export interface IndexDbOptions {
  home: string;
  schema: IndexSchema;
  log: Logger;
}

/** File of the SQLite library. */
export const libsqlFile = (): string => createRequire(import.meta.url).resolve('libsql');

export const indexPath = (home: string, { version }: Pick<IndexSchema, 'version'>): string =>
  join(home, 'cache', `index-v${version}.db`);

export interface SessionIndexDb extends IndexDb {
  /** Path of the file of the schema version before this one, which may exist. */
  readonly earlierPath: string;
}

/** Creates the index without opening a file. */
export const createIndexDb = ({ home, schema, log }: IndexDbOptions): SessionIndexDb => ({
  ...createDerivedDb({
    path: indexPath(home, schema),
    name: 'the session index',
    schema,
    libsql: libsqlFile,
    backgroundCheckpoints: true,
    log,
  }),
  earlierPath: indexPath(home, { version: schema.version - 1 }),
});
