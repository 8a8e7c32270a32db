/** Rules of connections, found by their socket: no header has a part in it. */
import type { App } from '#server/app/app.ts';
import type { ConnectionRules } from '#server/app/access.ts';

const assigned = new WeakMap<object, ConnectionRules>();

/** To be called before the HTTP server reads from the connection. */
export function assignRules(connection: object, rules: ConnectionRules): void {
  assigned.set(connection, rules);
}

/** The rules of a connection; those of the bind if none were assigned. */
export const rulesOf = ({ access }: Pick<App, 'access'>, connection: object): ConnectionRules =>
  assigned.get(connection) ?? access.bind;
