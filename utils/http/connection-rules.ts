/** Rules of connections and clients of WebSockets, found by their socket. No header has a part in the rules. */
import type { App } from '#server/app/app.ts';
import type { ConnectionRules } from '#server/app/access.ts';
import type { Client } from '#server/net/forwarded.ts';

const assigned = new WeakMap<object, ConnectionRules>();

/** To be called before the HTTP server reads from the connection. */
export function assignRules(connection: object, rules: ConnectionRules): void {
  assigned.set(connection, rules);
}

/** The rules of a connection; those of the bind if none were assigned. */
export const rulesOf = ({ access }: Pick<App, 'access'>, connection: object): ConnectionRules =>
  assigned.get(connection) ?? access.bind;

const clients = new WeakMap<object, Client>();

/** To be called when the upgrade of the connection is accepted. */
export function assignClient(connection: object, client: Client): void {
  clients.set(connection, client);
}

/** The client of a WebSocket; undefined if its upgrade was accepted elsewhere, as in development. */
export const assignedClient = (connection: object): Client | undefined => clients.get(connection);
