/** The facts about a request that handlers share; they travel with its event. */
import type { IncomingMessage } from 'node:http';
import type { H3Event } from 'h3';
import type { ConnectionRules } from '#server/app/access.ts';
import type { App } from '#server/app/app.ts';
import type { FollowUp } from '#server/app/follow-ups.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { newUlid } from '#server/ids.ts';
import type { Client } from '#server/net/forwarded.ts';
import type { RequestTarget } from './request-target.ts';
import type { RouteMatch } from './route-table.ts';

export interface ServedRequest {
  method: string;
  /** Parsed once, from the URL as received. */
  target: RequestTarget;
  /** The table's answer for the target; no handler decides on another reading of the URL. */
  match: RouteMatch | undefined;
  requestId: string;
  /** Rules of the connection on which it arrived. */
  rules: ConnectionRules;
  /** On which the guard decides. */
  client: Client;
  /** The client has disconnected before its body was complete: there is no reply. */
  isAborted?: true;
  /** Work after the reply, if that is not an error. */
  followUp?: FollowUp;
  /** Envelope code of the reply, for the access log; absent for raw answers. */
  code?: number;
}

declare module 'h3' {
  interface H3EventContext {
    /** Every service of the server. */
    app: App;
    served: ServedRequest;
  }
}

const REQUEST_ID = /^[0-9A-HJKMNP-TV-Z]{26}$/i;

/** The client's id of a request, or a new one. Node joins a repeated header with a comma; the first value counts. */
export function requestIdOf(request: IncomingMessage): string {
  const header = request.headers['x-request-id'];
  const first = (Array.isArray(header) ? header[0] : header)?.split(',', 1)[0]?.trim();
  return first !== undefined && REQUEST_ID.test(first) ? first : newUlid();
}

/** The error for a request that no handler answers. */
export function unknownRoute({ context }: H3Event): ServiceError {
  const { method, target } = context.served;
  return new ServiceError('route.not_found', `Route ${method}:${target.removed ?? ''}${target.decoded} not found`);
}
