/**
 * The checks of every request and every upgrade before its route is matched. Facts in, verdict out: no
 * request object, no reply.
 */
import type { ErrorName } from '#server/errors/catalogue.ts';
import type { Scheme } from '#server/net/forwarded.ts';
import type { Ban } from './ban.ts';
import { corsHeaders, isOwnOrigin, originAllowed } from './origins.ts';
import type { Credentials } from './credentials.ts';

export const WEBSOCKET_PATH = '/api/v1/ws';
const SUBPROTOCOL_PREFIX = 'service-code.bearer.';

export interface GuardedRequest {
  method: string;
  /** The parsed request target; undefined when it is malformed. */
  target: { decoded: string; segments: string[] } | undefined;
  /** Whether a handler or a route rule names the target. */
  isServed: boolean;
  /** With `scheme` and the connection: the server's address as the client has it. */
  host: string | undefined;
  scheme: Scheme;
  origin: string | undefined;
  /** `Sec-Fetch-Site`: how the page that caused the request relates to this server. Only browsers send it. */
  fetchSite: string | undefined;
  authorization: string | undefined;
  /** `Access-Control-Request-Headers` of a preflight. */
  requestedHeaders: string | undefined;
  /** Address of the client; forwarded headers count only with `--trust-proxy`. */
  remoteAddress: string | undefined;
}

type Target = NonNullable<GuardedRequest['target']>;

export interface Verdict {
  /** Only `pass` may reach a handler, and `health` that of the health check. `open` needs no token and reaches none. */
  outcome: 'pass' | 'health' | 'open' | 'preflight' | 'refused';
  /** CORS headers of any reply. */
  headers: Record<string, string>;
  /** Whether the request carried a valid token and needed one. */
  authorized?: true;
  /** `status` if it differs from the one of the error's catalogue entry. */
  refusal?: { error: ErrorName; message: string; status?: number };
}

export interface GuardedUpgrade extends Pick<
  GuardedRequest,
  'host' | 'scheme' | 'origin' | 'fetchSite' | 'authorization' | 'remoteAddress'
> {
  /** `Sec-WebSocket-Protocol` as sent. */
  protocols: string | undefined;
}

export type UpgradeVerdict = 'pass' | 401 | 403 | 429;

/** The address of this server in a browser, by the facts of a connection. */
export interface PublicAddress {
  scheme: Scheme;
  /** `host[:port]` */
  host: string;
}

/** Rules of the connections of one kind. */
export interface GuardRules {
  /** Undefined for connections that only this machine can open. */
  ban: Ban | undefined;
  hostAllowed(host: string | undefined): boolean;
  /** Literal origins of `SERVICE_CODE_CORS_ORIGINS`. */
  listedOrigins: ReadonlySet<string>;
  /** Undefined with `--dangerous-bypass-auth`. */
  credentials: Credentials | undefined;
  /**
   * The only host that requests may name, and the only origin that may send them; `hostAllowed` and `listedOrigins` do
   * not apply then, and no CORS headers are sent. Undefined for connections to the bind.
   */
  publicAddress?: PublicAddress;
}

export interface Guard {
  request(guarded: GuardedRequest): Promise<Verdict>;
  upgrade(guarded: GuardedUpgrade): Promise<UpgradeVerdict>;
}

/** Returns the token of an `Authorization` header, which must be `Bearer`, one space and the token. */
function bearerToken(authorization: string | undefined): string | undefined {
  const scheme = 'Bearer ';
  if (!authorization?.startsWith(scheme)) return undefined;
  const token = authorization.slice(scheme.length);
  return token === '' || token.startsWith(' ') ? undefined : token;
}

/** Returns the offered subprotocol that contains a token, to be echoed verbatim; undefined if none does. */
export function bearerSubprotocol(offered: Iterable<string>): string | undefined {
  for (const entry of offered) {
    const name = entry.trim();
    if (name.startsWith(SUBPROTOCOL_PREFIX)) return name;
  }
  return undefined;
}

/** Returns the token or password of an upgrade: from `Authorization`, else from the subprotocol. */
export function offeredSecret({
  authorization,
  protocols,
}: Pick<GuardedUpgrade, 'authorization' | 'protocols'>): string | undefined {
  const subprotocol = bearerSubprotocol(protocols?.split(',') ?? [])?.slice(SUBPROTOCOL_PREFIX.length);
  return bearerToken(authorization) ?? (subprotocol || undefined);
}

/** Below `/api/` by either reading of the target: an error in one is not an open door. */
const isBelowApi = ({ decoded, segments }: Target): boolean =>
  decoded.startsWith('/api/') || (segments[0] === 'api' && segments.length > 1);

/** Three segments: none of them holds an encoded slash, so no other endpoint has this decoded path. */
const isHealthCheck = ({ method }: GuardedRequest, { decoded, segments }: Target): boolean =>
  method === 'GET' && decoded === '/api/v1/healthz' && segments.length === 3;

const isDocument = ({ decoded }: Target): boolean => decoded === '/openapi.json' || decoded === '/asyncapi.json';

const originOf = ({ scheme, host }: PublicAddress): string => `${scheme}://${host}`;

/** Builds the guard of one kind of connection. Only token failures change its state, because they may lead to a ban. */
export function createGuard({ ban, hostAllowed, listedOrigins, credentials, publicAddress }: GuardRules): Guard {
  const banned = (address: string | undefined) => address !== undefined && (ban?.banned(address) ?? false);

  const acceptsHost = publicAddress ? (host: string | undefined) => host === publicAddress.host : hostAllowed;

  function allows(origin: string, { host, scheme }: Pick<GuardedRequest, 'host' | 'scheme'>): boolean {
    if (publicAddress) return origin === originOf(publicAddress);
    return credentials
      ? originAllowed(origin, host, listedOrigins)
      : isOwnOrigin(origin, { scheme, host }, listedOrigins);
  }

  /** CORS is not sufficient there: a request without a preflight would already have been executed. */
  const refusesOrigins = publicAddress !== undefined || credentials === undefined;

  function hostRefusal(host: string | undefined): string {
    const shown = host || '<missing>';
    if (publicAddress) return `Invalid Host header: ${shown}.`;
    const advice = `allow this host with SERVICE_CODE_ALLOWED_HOSTS=${shown} or --allowed-host ${shown}`;
    return `Invalid Host header: ${shown}; ${advice}.`;
  }

  /**
   * Whether a page of another site caused a request that only its origin could reveal. Navigations, images and scripts
   * carry no `Origin`; a listed origin always sends one.
   */
  const isForeign = (fetchSite: string | undefined, origin: string | undefined): boolean =>
    !credentials &&
    (fetchSite === 'cross-site' || fetchSite === 'same-site') &&
    !(origin !== undefined && listedOrigins.has(origin));

  /**
   * Requests that need no token because no handler gets them, such as those of the page. OPTIONS without the token is
   * answered as if nothing were there; a wrong one is checked first.
   */
  function isOpen({ method, isServed, authorization }: GuardedRequest, target: Target): boolean {
    if (method === 'OPTIONS') return !isServed || (credentials !== undefined && authorization === undefined);
    return !isServed && !isBelowApi(target) && !isDocument(target);
  }

  /**
   * Checks a token. The ban is checked after the asynchronous comparison, because other requests may have caused one
   * meanwhile.
   */
  async function checkToken(token: string | undefined, address: string | undefined): Promise<'pass' | 401 | 429> {
    if (!credentials) return 'pass';
    const accepted = token !== undefined && (await credentials.accepts(token));
    if (banned(address)) return 429;
    if (accepted) return 'pass';
    if (address !== undefined) ban?.fail(address);
    return 401;
  }

  return {
    async request(guarded) {
      const { method, target, host, origin, fetchSite, authorization, requestedHeaders, remoteAddress } = guarded;
      const allowed = origin !== undefined && allows(origin, guarded);
      const cors = allowed && !publicAddress ? corsHeaders(origin, requestedHeaders) : {};
      const refused = (error: ErrorName, message: string, headers = cors, status?: number): Verdict => ({
        outcome: 'refused',
        headers,
        refusal: { error, message, status },
      });

      const refusedByBan = () => refused('rate.limited', 'Too many failed auth attempts');

      if (banned(remoteAddress)) return refusedByBan();
      // These two checks precede the CORS headers.
      if (!target) return refused('validation.failed', 'Malformed URL', {}, 400);
      if (!acceptsHost(host)) return refused('host.not_allowed', hostRefusal(host), {});
      if (refusesOrigins && origin !== undefined && !allowed) {
        return refused('host.not_allowed', `Origin not allowed: ${origin}`, {});
      }
      if (method === 'OPTIONS' && origin !== undefined && !publicAddress)
        return { outcome: 'preflight', headers: cors };
      if (isHealthCheck(guarded, target)) return { outcome: 'health', headers: cors };
      if (isOpen(guarded, target)) return { outcome: 'open', headers: cors };
      if (isForeign(fetchSite, origin)) {
        return refused('host.not_allowed', 'Request from another site not allowed');
      }
      const outcome = await checkToken(bearerToken(authorization), remoteAddress);
      if (outcome === 429) return refusedByBan();
      // OPTIONS with a wrong token, which the ban counts nevertheless: a handler's reply would reveal the right one.
      if (outcome === 401 && method === 'OPTIONS') return { outcome: 'open', headers: cors };
      if (outcome === 401) return refused('auth.unauthorized', 'Unauthorized');
      return credentials ? { outcome: 'pass', headers: cors, authorized: true } : { outcome: 'pass', headers: cors };
    },

    async upgrade({ host, scheme, origin, fetchSite, authorization, remoteAddress, protocols }) {
      if (banned(remoteAddress)) return 429;
      if (!acceptsHost(host)) return 403;
      if (origin !== undefined && !allows(origin, { host, scheme })) return 403;
      if (isForeign(fetchSite, origin)) return 403;
      return checkToken(offeredSecret({ authorization, protocols }), remoteAddress);
    },
  };
}
