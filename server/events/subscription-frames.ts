/** Handlers of the frames that every connection supports: greeting, subscriptions, ping. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ServiceError } from '#server/errors/service-error.ts';
import { clientHelloFrame, pingFrame, subscribeFrame, unsubscribeFrame } from '#schema/frames/subscriptions.ts';
import type { RequestPayload } from '#schema/frames/request-frames.ts';
import { defineFrame } from './frame-handler.ts';
import type { FrameHandler } from './frame-handler.ts';
import type { StreamPosition } from './frame.ts';
import { pongText } from './outgoing.ts';
import type { Subscriptions } from './subscriptions.ts';

/** Cooperative yielding: longest time on the ids of one frame before the event loop serves other work. */
const SLICE_MS = 5;

export interface SubscriptionFramesDeps {
  subscriptions: Pick<Subscriptions, 'subscribe' | 'unsubscribe'>;
  /** Whether the token of a `client_hello` is valid. */
  acceptsToken(token: string): Promise<boolean>;
  /** Called when a `client_hello` was accepted. */
  onHello(): void;
}

type Requested = Pick<RequestPayload<'subscribe'>, 'cursors' | 'agent_filter'>;

/** Records of clients may have any key, so only own properties are read. */
function ownEntry<T>(record: Record<string, T> | undefined, key: string): T | undefined {
  return record && Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Creates the handlers of one connection. */
export function subscriptionFrames({ subscriptions, acceptsToken, onHello }: SubscriptionFramesDeps): FrameHandler[] {
  async function subscribeAll(ids: string[], { cursors, agent_filter: filters }: Requested) {
    const accepted = new Map<string, StreamPosition>();
    const unknown = new Set<string>();
    const resync = new Set<string>();
    let sliceEnd = performance.now() + SLICE_MS;
    for (const sessionId of ids) {
      if (performance.now() >= sliceEnd) {
        await nextTurn();
        sliceEnd = performance.now() + SLICE_MS;
      }
      const agents = ownEntry(filters, sessionId);
      const outcome = await subscriptions.subscribe(sessionId, ownEntry(cursors, sessionId), agents && new Set(agents));
      if (!outcome) unknown.add(sessionId);
      else accepted.set(sessionId, outcome.position);
      if (outcome?.resync) resync.add(sessionId);
    }
    return { accepted: [...accepted.keys()], unknown, resync, watermarks: Object.fromEntries(accepted) };
  }

  return [
    defineFrame(clientHelloFrame, {
      atLength: true,
      async handle(payload) {
        if (payload.token !== undefined && !(await acceptsToken(payload.token))) {
          throw new ServiceError('auth.unauthorized', 'Unauthorized');
        }
        onHello();
        const { accepted, unknown, resync, watermarks } = await subscribeAll(payload.subscriptions ?? [], payload);
        return {
          accepted_subscriptions: accepted,
          resync_required: [...unknown, ...resync],
          cursors: watermarks,
        };
      },
    }),
    defineFrame(subscribeFrame, {
      atLength: true,
      async handle(payload) {
        const { accepted, unknown, resync, watermarks } = await subscribeAll(payload.session_ids, payload);
        return { accepted, not_found: [...unknown], resync_required: [...resync], cursors: watermarks };
      },
    }),
    defineFrame(unsubscribeFrame, {
      handle(payload) {
        for (const sessionId of payload.session_ids) subscriptions.unsubscribe(sessionId);
        return { accepted: [], not_found: [], resync_required: [] };
      },
    }),
    defineFrame(pingFrame, {
      lane: 'control',
      handle: ({ nonce = '' }, client) => client.send('answer', pongText(nonce)),
    }),
  ];
}
