/**
 * A request's way in: guard, route, endpoint, reply. It takes the place of h3's own handler; h3 contributes the event
 * alone.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { H3Event } from 'h3';
import type { App } from '#server/app/app.ts';
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import { newUlid } from '#server/ids.ts';
import type { Endpoint, FailureStatuses } from '../endpoint.ts';
import type { AssetReader } from './assets.ts';
import { RequestAborted, UnreadableBody } from './body.ts';
import { PUBLIC_ID_HEADER, publicIdOf } from './caller.ts';
import type { Reply } from './reply.ts';
import { failure, writeReply } from './reply.ts';
import type { RequestTarget } from './request-target.ts';
import { parseRequestTarget } from './request-target.ts';
import type { EndpointEntry, RouteMatch, RouteTable } from './route-table.ts';

const REQUEST_ID = /^[0-9A-HJKMNP-TV-Z]{26}$/i;

export interface HandlerOptions {
  /** Resolves when the app is up; requests wait for it. */
  app(): App | Promise<App>;
  routes: RouteTable;
  assets: AssetReader;
  /** The address of the client; default: the peer of the connection. */
  clientAddress?: (request: IncomingMessage) => string | undefined;
  /** Called for each request with a valid token. */
  onAuthorized?: (socket: Socket) => void;
}

/** The caller's id, or a new one. Node joins a repeated header with a comma; the first value counts. */
function requestIdOf(request: IncomingMessage): string {
  const header = request.headers['x-request-id'];
  const first = (Array.isArray(header) ? header[0] : header)?.split(',', 1)[0]?.trim();
  return first !== undefined && REQUEST_ID.test(first) ? first : newUlid();
}

const unknownRoute = (method: string, path: string) =>
  new ServiceError('route.not_found', `Route ${method}:${path} not found`);

/** Builds the handler of one server. It rejects only when the app could not start. */
export function createRequestHandler({
  app: appReady,
  routes,
  assets,
  clientAddress = ({ socket }) => socket.remoteAddress,
  onAuthorized,
}: HandlerOptions): (event: H3Event) => Promise<void> {
  const loaded = new Map<EndpointEntry, Endpoint>();
  async function endpointOf(entry: EndpointEntry): Promise<Endpoint> {
    const known = loaded.get(entry);
    if (known) return known;
    const { default: endpoint } = await entry.load();
    loaded.set(entry, endpoint);
    return endpoint;
  }

  /** From the route on: everything that may throw a `ServiceError`. */
  async function route(
    app: App,
    event: H3Event,
    target: RequestTarget,
    match: RouteMatch | undefined,
    requestId: string,
  ): Promise<Reply> {
    const { method = 'GET' } = event.node.req;
    if (match?.kind === 'unsupported-action') {
      const message = `unsupported action: ${match.tail}`;
      // Clients recognise the message by its first words, so only the details contain the field.
      throw new ServiceError('validation.failed', message, { details: [{ path: match.field, message }] });
    }
    if (match) {
      const endpoint = await endpointOf(match.entry);
      if (endpoint.definition.mounted?.(app.bind) ?? true) {
        try {
          const { params } = match;
          const remoteAddress = clientAddress(event.node.req);
          return await endpoint.run({ app, event, params, query: target.query, requestId, remoteAddress });
        } catch (error) {
          if (error instanceof RequestAborted) throw error;
          return failed(app, error, requestId, endpoint.definition.failureStatuses);
        }
      }
    }
    const { decoded, segments } = target;
    const isApi = segments[0] === 'api' || decoded.startsWith('/api/') || decoded === '/documentation';
    if (isApi || (method !== 'GET' && method !== 'HEAD')) throw unknownRoute(method, decoded);
    return assets.read(segments, app.policies.page);
  }

  function failed(app: App, error: unknown, requestId: string, statuses: FailureStatuses = {}): Reply {
    if (error instanceof ServiceError) return failure(error, requestId, statuses[error.name]);
    if (error instanceof UnreadableBody) {
      const reply = failure(error.answer, requestId);
      return { ...reply, headers: { ...reply.headers, connection: 'close' } };
    }
    app.log.error('unhandled error', { err: error, request_id: requestId });
    const uncoded = new ServiceError('internal.error', errorMessage(error) || 'internal error');
    return failure(uncoded, requestId, statuses['internal.error']);
  }

  async function answer(app: App, event: H3Event, requestId: string): Promise<Reply> {
    const { req: request, res: response } = event.node;
    const { method = 'GET', headers, url = '/', socket } = request;
    const target = parseRequestTarget(url);
    const match = target && routes.match(method, target.segments);
    const verdict = await app.guard.request({
      method,
      target,
      matchesEndpoint: match !== undefined,
      host: headers.host,
      origin: headers.origin,
      fetchSite: headers['sec-fetch-site']?.toString(),
      authorization: headers.authorization,
      requestedHeaders: headers['access-control-request-headers'],
      remoteAddress: clientAddress(request),
    });
    if (verdict.authorized) onAuthorized?.(socket);
    for (const name in verdict.headers) response.setHeader(name, verdict.headers[name] ?? '');
    const publicId = publicIdOf(headers);
    if (publicId !== undefined) response.setHeader(PUBLIC_ID_HEADER, publicId);
    for (const name in app.policies.answer) response.setHeader(name, app.policies.answer[name] ?? '');

    if (verdict.outcome === 'preflight') return { status: 204, headers: {} };
    if (verdict.refusal) {
      const { status, error, message } = verdict.refusal;
      return failure(new ServiceError(error, message), requestId, status);
    }
    if (!target) throw new Error('the guard let a malformed URL pass');
    return route(app, event, target, match, requestId);
  }

  return async (event) => {
    const { req: request, res: response } = event.node;
    const app = await appReady();
    const startedAt = performance.now();
    const requestId = requestIdOf(request);
    let reply: Reply;
    try {
      reply = await answer(app, event, requestId);
    } catch (error) {
      if (error instanceof RequestAborted) return;
      reply = failed(app, error, requestId);
    }
    try {
      await writeReply(request, response, reply);
    } catch (error) {
      app.log.error('unhandled error', { err: error, request_id: requestId });
    }
    if (!app.accessLog.enabled('info')) return;
    app.accessLog.info('request completed', {
      reqId: requestId,
      req: {
        method: request.method,
        url: request.url,
        host: request.headers.host,
        remoteAddress: clientAddress(request),
        remotePort: request.socket.remotePort,
      },
      code: reply.code,
      responseTime: Math.round((performance.now() - startedAt) * 1000) / 1000,
    });
  };
}
