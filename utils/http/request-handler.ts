/**
 * Ingress of all requests: guard, request id, access log, page. It wraps the handler of Nitro's app, which gets only
 * requests that the guard has passed, and calls that Nitro makes within the process.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { isError, type H3Event } from 'h3';
import type { App } from '#server/app/app.ts';
import type { Verdict } from '#server/auth/guard.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import type { AssetReader } from './assets.ts';
import { PUBLIC_ID_HEADER, publicIdOf } from './caller.ts';
import { rulesOf } from './connection-rules.ts';
import { answerByTable } from './endpoint-table.ts';
import { isLocalRequest } from './local-request.ts';
import type { RequestTarget } from './request-target.ts';
import { originForm, parseRequestTarget } from './request-target.ts';
import type { RouteTable } from './route-table.ts';
import { receivedRequest } from './received-request.ts';
import { removeToken } from './remove-token.ts';
import { failure } from './reply.ts';
import { failureReply, sendReply } from './send-reply.ts';
import { requestIdOf, unknownRoute, type ServedRequest } from './served-request.ts';

export interface Host {
  /** Resolves when the app has started; requests wait for it, and are answered 503 if it rejects. */
  app(): App | Promise<App>;
  routes: RouteTable;
  assets: AssetReader;
  /** The address of the client of a connection to the port; default: by the rules of the connection. */
  clientAddress?: (request: IncomingMessage) => string | undefined;
  /** Called for each request with a valid token. */
  onAuthorized?: (socket: Socket) => void;
}

export interface NitroHandler {
  handle(event: H3Event): Promise<unknown>;
  /** Whether a route rule answers requests for this path (`redirect`, `proxy`). */
  hasRule?: (path: string) => boolean;
}

/** A path that the page does not have: those of the API, and one that other servers of this protocol have. */
const isReserved = ({ decoded, segments }: RequestTarget): boolean =>
  segments[0] === 'api' || decoded.startsWith('/api/') || decoded === '/documentation';

/** The path as route rules name it: decoded, but with the encoded slashes of its segments. */
const rulePath = ({ segments }: RequestTarget): string =>
  `/${segments.map((segment) => segment.replaceAll('/', '%2F')).join('/')}`;

/** Placeholder for a target that cannot be parsed, which the guard refuses. */
const MALFORMED: RequestTarget = { raw: '/', decoded: '/', segments: [''], query: '' };

/** Answers a request when the app could not start. Nitro, which reports the error, would send its stack, to any `Host`. */
function answerUnavailable({ node: { res: response } }: H3Event): void {
  response.writeHead(503, { 'content-type': 'text/plain; charset=utf-8' });
  response.end('The server could not start; its terminal shows why.\n');
}

/** Builds the handler of one server. It rejects with errors of Nitro's handlers. */
export function createRequestHandler(
  { app: appReady, routes, assets, clientAddress, onAuthorized }: Host,
  nitro: NitroHandler,
): (event: H3Event) => Promise<void> {
  const isServed = ({ match, target }: ServedRequest): boolean =>
    match !== undefined || (!target.isBase && !isReserved(target) && (nitro.hasRule?.(rulePath(target)) ?? false));

  /** Checks the request and sets the headers that every answer has. */
  async function guarded(event: H3Event, target: RequestTarget | undefined): Promise<Verdict> {
    const { served } = event.context;
    const { req: request, res: response } = event.node;
    const { headers, socket } = request;
    const { client, rules } = served;
    const { guard, policies } = rules;
    const verdict = await guard.request({
      method: served.method,
      target,
      isServed: target !== undefined && isServed(served),
      host: client.host,
      scheme: client.scheme,
      origin: headers.origin,
      fetchSite: headers['sec-fetch-site']?.toString(),
      authorization: headers.authorization,
      requestedHeaders: headers['access-control-request-headers'],
      remoteAddress: client.address,
    });
    if (verdict.authorized) onAuthorized?.(socket);
    for (const name in verdict.headers) response.setHeader(name, verdict.headers[name] ?? '');
    const publicId = publicIdOf(headers);
    if (publicId !== undefined) response.setHeader(PUBLIC_ID_HEADER, publicId);
    for (const name in policies.answer) response.setHeader(name, policies.answer[name] ?? '');
    return verdict;
  }

  /** Answers a request that no handler gets: with the page, or that there is no such route. */
  async function answerOpen(event: H3Event): Promise<void> {
    const { method, target, rules } = event.context.served;
    const { headers } = event.node.req;
    const isPage = (method === 'GET' || method === 'HEAD') && !isReserved(target);
    if (!isPage) throw unknownRoute(event);
    if (target.isBase) {
      const location = target.query === '' ? rules.base : `${rules.base}?${target.query}`;
      return sendReply(event, { status: 301, headers: { location } });
    }
    const page = {
      base: rules.base,
      headers: rules.policies.page,
      acceptEncoding: headers['accept-encoding']?.toString(),
      ifNoneMatch: headers['if-none-match'],
    };
    await sendReply(event, await assets.read(target.segments, page));
  }

  async function answerVerdict(event: H3Event, { outcome, refusal }: Verdict): Promise<void> {
    if (outcome === 'health') return answerByTable(event);
    if (outcome === 'open') return answerOpen(event);
    if (!refusal) return sendReply(event, { status: 204, headers: {} });
    const error = new ServiceError(refusal.error, refusal.message);
    await sendReply(event, failure(error, event.context.served.requestId, refusal.status));
  }

  /** Whether Nitro gets the request. Any other request is answered here. */
  async function isForNitro(event: H3Event, target: RequestTarget | undefined): Promise<boolean> {
    try {
      const { served } = event.context;
      if (isLocalRequest(event.node.req)) {
        if (isServed(served) || isReserved(served.target)) return true;
        await answerOpen(event);
        return false;
      }
      const verdict = await guarded(event, target);
      if (verdict.outcome === 'pass' && target) return true;
      await answerVerdict(event, verdict);
    } catch (error) {
      await sendReply(event, failureReply(event, error));
    }
    return false;
  }

  async function answerByNitro(event: H3Event): Promise<void> {
    const { req: request } = event.node;
    const { target, requestId } = event.context.served;
    if (!isLocalRequest(request)) removeToken(request);
    // Handlers see the origin form of a target in absolute form, and no base path.
    if (!request.url?.startsWith('/') || target.removed !== undefined) request.url = originForm(target);
    try {
      await nitro.handle(event);
    } catch (error) {
      if (error instanceof ServiceError) return sendReply(event, failureReply(event, error));
      // Nitro answers these without their message.
      if (!isError(error) || error.unhandled || error.fatal) {
        event.context.app.log.error('unhandled error', { err: error, request_id: requestId });
      }
      throw error;
    }
  }

  return async (event) => {
    const { req: request } = event.node;
    const app = await Promise.resolve(appReady()).catch(() => undefined);
    if (!app) return answerUnavailable(event);
    const startedAt = performance.now();
    const { method = 'GET', url = '/' } = request;
    const rules = rulesOf(app, request.socket);
    const target = parseRequestTarget(url, isLocalRequest(request) ? '' : rules.basePath);
    const requestId = requestIdOf(request);
    const match = target && !target.isBase ? routes.match(method, target.segments) : undefined;
    const client =
      clientAddress && rules.facts.kind === 'bind'
        ? { address: clientAddress(request), scheme: 'http' as const, host: request.headers.host }
        : rules.client(receivedRequest(request));
    const served: ServedRequest = { method, target: target ?? MALFORMED, match, requestId, rules, client };
    event.context.app = app;
    event.context.served = served;
    try {
      if (await isForNitro(event, target)) await answerByNitro(event);
    } finally {
      if (app.accessLog.enabled('info') && !served.isAborted && !isLocalRequest(request)) {
        const { host } = request.headers;
        app.accessLog.info('request completed', {
          reqId: requestId,
          req: { method, url, host, remoteAddress: client.address, remotePort: request.socket.remotePort },
          code: served.code,
          responseTime: Math.round((performance.now() - startedAt) * 1000) / 1000,
        });
      }
    }
  };
}
