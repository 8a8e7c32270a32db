/** WebSockets in development, where the dev server takes the upgrades of every path: the guard is in a hook. */
import type { Hooks, Peer as Socketed } from 'crossws';
import type { App } from '#server/app/app.ts';
import { WEBSOCKET_PATH } from '#server/auth/guard.ts';
import type { RouteTable } from './route-table.ts';
import { peerHooks } from './socket-peers.ts';
import { STATUS_TEXT, isPlainPath, receivedTarget, type PlainSockets } from './websocket.ts';

function refusalResponse(status: keyof typeof STATUS_TEXT): Response {
  return new Response(null, { status, statusText: STATUS_TEXT[status], headers: { connection: 'close' } });
}

export interface DevelopmentSockets {
  routes: RouteTable;
  plain: Pick<PlainSockets, 'hooksOf'>;
  /** The header with the address of the client. */
  clientHeader: string;
}

/** Builds the function that finds the hooks of a socket: those of the gateway, of a plain file, or a refusal. */
export function createDevelopmentHooks(
  app: App,
  { routes, plain, clientHeader }: DevelopmentSockets,
): (info: RequestInit | Socketed) => Promise<Partial<Hooks>> {
  const clientAddress = (headers: Headers) => headers.get(clientHeader) ?? undefined;
  const gateway = peerHooks(app, ({ request }) => clientAddress(request.headers));

  async function guarded({ headers }: { headers: Headers }): Promise<void> {
    const verdict = await app.access.bind.guard.upgrade({
      host: headers.get('host') ?? undefined,
      scheme: 'http',
      origin: headers.get('origin') ?? undefined,
      fetchSite: headers.get('sec-fetch-site') ?? undefined,
      authorization: headers.get('authorization') ?? undefined,
      protocols: headers.get('sec-websocket-protocol') ?? undefined,
      remoteAddress: clientAddress(headers),
    });
    if (verdict !== 'pass') throw refusalResponse(verdict);
  }

  return async (info) => {
    const target = receivedTarget(info);
    if (target?.raw === WEBSOCKET_PATH) return { ...gateway, upgrade: guarded };
    if (!target || !isPlainPath(routes, target)) return { upgrade: () => Promise.reject(refusalResponse(404)) };
    const hooks = await plain.hooksOf(target);
    return {
      ...hooks,
      async upgrade(request) {
        await guarded(request);
        if (!hooks) throw refusalResponse(404);
        return hooks.upgrade?.(request);
      },
    };
  };
}
