/** Requests to the configured services for pages and searches, which may be remote. */
import type { Account } from '#server/account/account.ts';
import { AccessTokenError } from '#server/account/tokens.ts';
import type { Clock } from '#server/clock.ts';
import type { Fetch } from '#server/net/http-client.ts';
import { BodyTooLarge, readBounded } from '#server/net/read-bounded.ts';
import type { ServiceEntry } from '#schema/config/config.ts';
import { reasonOf, WebFailure } from './failure.ts';
import { within } from './within.ts';

const SERVICE_MS = 30_000;
const UNAUTHORIZED = new Set([401, 403]);

/** A configuration entry with the address of the service. */
export type WebService = ServiceEntry & { baseUrl: string };

export const isWebService = (entry: ServiceEntry | undefined): entry is WebService => Boolean(entry?.baseUrl?.trim());

export interface ServiceRequest {
  body: object;
  accept: string;
  maxBytes: number;
  toolCallId: string;
  signal: AbortSignal;
}

export interface ServiceDeps {
  /** Must not follow redirects, so that the key is sent to no other address. */
  fetch: Fetch;
  /** Obtains the access tokens of services with a login. */
  logins: Pick<Account, 'authorized' | 'noteUse'>;
  userAgent: () => string;
  /** The complete identity headers, for services with a login. */
  identityHeaders: () => Record<string, string>;
  clock: Clock;
}

/** Returns the response text. Throws `WebFailure` for any status other than 200, and the signal's reason. */
export async function askService(service: WebService, request: ServiceRequest, deps: ServiceDeps): Promise<string> {
  try {
    return await within(SERVICE_MS, { signal: request.signal, clock: deps.clock }, async (signal) => {
      const url = service.baseUrl.trim();
      const headers = headersOf(service, request, deps);
      const send = () => deps.fetch(url, { method: 'POST', headers, body: JSON.stringify(request.body), signal });
      const login = loginOf(service);
      if (login) deps.logins.noteUse(url);
      const sendWith = (token: string) => {
        headers.set('authorization', `Bearer ${token}`);
        return send();
      };
      const discard = ({ body }: Response) => body?.cancel();
      const response = login ? await deps.logins.authorized(login, sendWith, { signal, discard }) : await send();
      if (response.status !== 200) {
        await response.body?.cancel();
        throw new WebFailure(refusal(response.status));
      }
      return new TextDecoder().decode(await readBounded(response, request.maxBytes));
    });
  } catch (error) {
    if (request.signal.aborted || error instanceof WebFailure) throw error;
    if (error instanceof AccessTokenError) throw new WebFailure(`cannot be used: ${error.message}`, { cause: error });
    if (error instanceof BodyTooLarge) throw new WebFailure(`sent more than ${request.maxBytes} bytes`);
    throw new WebFailure(`could not be reached: ${reasonOf(error)}`, { cause: error });
  }
}

const refusal = (status: number): string =>
  UNAUTHORIZED.has(status) ? `refused its credentials (status ${status})` : `answered with status ${status}`;

/** The login of a service without a key. */
const loginOf = ({ apiKey, oauth }: WebService) => (apiKey?.trim() ? undefined : oauth);

/** Precedence: the request's headers, those of the configuration, those of the identity. */
function headersOf(service: WebService, request: ServiceRequest, deps: ServiceDeps): Headers {
  const { apiKey, customHeaders } = service;
  const headers = new Headers(loginOf(service) ? deps.identityHeaders() : { 'user-agent': deps.userAgent() });
  for (const [name, value] of Object.entries(customHeaders ?? {})) headers.set(name, value);
  if (apiKey?.trim()) headers.set('authorization', `Bearer ${apiKey.trim()}`);
  headers.set('accept', request.accept);
  headers.set('content-type', 'application/json');
  // The model server chooses the ids, so they may contain characters that headers cannot.
  headers.set('x-service-tool-call-id', request.toolCallId.replace(/[^\u0020-\u007e]/g, '').trim());
  return headers;
}
