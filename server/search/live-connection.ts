/** A connection that stays valid when the database is closed and opened again, as after damage. */
import type { Connection, IndexDb } from '#server/storage/derived-db.ts';

/** Each statement or transaction is one use of the database. */
export function liveConnection(db: Pick<IndexDb, 'run'>): Connection {
  /** The connection of the running transaction. */
  let current: Connection | undefined;

  const use = <T>(call: (connection: Connection) => T): T => (current ? call(current) : db.run(call));

  return {
    all: (sql, binding) => use(({ all }) => all(sql, binding)),
    run: (sql, binding) => use(({ run }) => run(sql, binding)),
    exec: (sql, binding) => use(({ exec }) => exec(sql, binding)),
    transaction: (work) =>
      use((connection) =>
        connection.transaction(() => {
          current = connection;
          try {
            work();
          } finally {
            current = undefined;
          }
        }),
      ),
  };
}
