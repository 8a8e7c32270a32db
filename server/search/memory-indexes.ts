/** Indexes in memory, of single sessions that are loaded, for a home whose index cannot be written. */
import { createRequire } from 'node:module';
import type Database from 'libsql';
import { connect, type Connection } from '#server/storage/derived-db.ts';
import { liveConnection } from './live-connection.ts';
import { searchSchema } from './tables.ts';

/** Sessions whose index is retained for their next search. */
const MAX_INDEXES = 8;

/** Returns the index of a session, empty at first. `libsql` is the library's file. */
export type MemoryIndexes = (sessionId: string) => Connection;

export function createMemoryIndexes(libsql: string, guard: <T>(call: () => T) => T): MemoryIndexes {
  const indexes = new Map<string, Connection>();

  function open(): Connection {
    const Sqlite: typeof Database = createRequire(libsql)(libsql);
    const connection = guard(() => {
      const database = new Sqlite(':memory:');
      database.exec(searchSchema.sql);
      return connect(database);
    });
    return liveConnection({ run: (use) => guard(() => use(connection)) });
  }

  return (sessionId) => {
    const connection = indexes.get(sessionId) ?? open();
    indexes.delete(sessionId);
    indexes.set(sessionId, connection);
    const [oldest] = indexes.keys();
    // Not closed, because a query may still read it.
    if (indexes.size > MAX_INDEXES && oldest !== undefined) indexes.delete(oldest);
    return connection;
  };
}
