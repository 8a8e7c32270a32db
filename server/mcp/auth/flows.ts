/**
 * Running sign-ins. A flow is a handle of an authorization; flows of one credential share it by reference count, and it
 * is closed with its last handle.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '#server/clock.ts';
import { ServiceError, invalidField } from '#server/errors/service-error.ts';
import type { Authorization } from './authorization.ts';
import { causeText } from './causes.ts';

const IDLE_MS = 900_000;
export const WAIT_MS = 900_000;

export interface OpenFlow {
  flowId: string;
  authorizationUrl: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

export interface CompleteOptions {
  timeoutMs?: number | undefined;
  /** The callback address from the browser of another machine, which cannot reach the loopback listener. */
  redirectUrl?: string | undefined;
  /** Aborted when the waiting client has disconnected; that cancels the authorization. */
  signal?: AbortSignal | undefined;
}

export interface Flows {
  /** Returns a handle of the credential's open authorization, or of a new one. Throws what `start` throws. */
  begin(id: string, name: string, start: () => Promise<Authorization>): Promise<OpenFlow>;
  /** Resolves when tokens are stored. Throws `validation.failed` (unknown flow) or `mcp.oauth_failed`. */
  complete(flowId: string, options: CompleteOptions): Promise<void>;
  /** Unknown flows are ignored. */
  cancel(flowId: string): void;
  /** Ends the authorization of a credential, if one is open. */
  end(id: string, reason: string): void;
  close(): void;
}

/** An open authorization, its handles and its waiters. */
interface Shared {
  id: string;
  authorization: Authorization;
  handles: Set<string>;
  /** In the order of their calls: time-out and signal of the first apply to the authorization. */
  waiters: Waiter[];
}

interface Waiter {
  flowId: string;
  /** Applies this waiter's time-out and signal to the authorization. */
  govern(): void;
  fail(reason: string): void;
}

interface Handle {
  name: string;
  shared: Shared;
  stopIdle(): void;
}

export function createFlows({ clock }: { clock: Clock }): Flows {
  const handles = new Map<string, Handle>();
  const open = new Map<string, Promise<Shared>>();
  let closed = false;

  /** Closes the authorization; its handles are unknown afterwards. */
  function over(shared: Shared, reason: string): void {
    open.delete(shared.id);
    for (const flowId of shared.handles) {
      handles.get(flowId)?.stopIdle();
      handles.delete(flowId);
    }
    shared.handles.clear();
    shared.authorization.end(reason);
  }

  function release(flowId: string, reason: string): void {
    const handle = handles.get(flowId);
    if (!handle) return;
    const { shared } = handle;
    handle.stopIdle();
    handles.delete(flowId);
    shared.handles.delete(flowId);
    const [first] = shared.waiters;
    const own = shared.waiters.filter((waiter) => waiter.flowId === flowId);
    shared.waiters = shared.waiters.filter((waiter) => waiter.flowId !== flowId);
    for (const waiter of own) waiter.fail(reason);
    if (shared.handles.size === 0) over(shared, reason);
    else if (first && own.includes(first)) shared.waiters[0]?.govern();
  }

  async function openShared(id: string, start: () => Promise<Authorization>): Promise<Shared> {
    const authorization = await start();
    const shared: Shared = { id, authorization, handles: new Set(), waiters: [] };
    if (closed) over(shared, 'the server is shutting down');
    return shared;
  }

  async function shared(id: string, start: () => Promise<Authorization>): Promise<Shared> {
    const opening = open.get(id) ?? openShared(id, start);
    open.set(id, opening);
    try {
      return await opening;
    } catch (error) {
      if (open.get(id) === opening) open.delete(id);
      throw error;
    }
  }

  async function wait(flowId: string, { name, shared }: Handle, options: CompleteOptions): Promise<void> {
    const { timeoutMs = WAIT_MS, signal } = options;
    const deadline = clock.now() + timeoutMs;
    const ends: (() => void)[] = [];
    try {
      await new Promise<void>((resolve, reject) => {
        const fail = (reason: string) => reject(new Error(reason));
        const governed = (reason: string) => over(shared, reason);
        const waiter: Waiter = {
          flowId,
          fail,
          govern() {
            const left = Math.max(deadline - clock.now(), 0);
            ends.push(clock.setTimeout(() => governed('OAuth callback timed out'), left));
            const onAbort = () => governed('the client closed the connection');
            if (signal?.aborted) onAbort();
            signal?.addEventListener('abort', onAbort, { once: true });
            ends.push(() => signal?.removeEventListener('abort', onAbort));
          },
        };
        shared.waiters.push(waiter);
        shared.authorization.result.then(resolve, reject);
        if (shared.waiters[0] === waiter) waiter.govern();
      });
    } catch (error) {
      throw new ServiceError('mcp.oauth_failed', `OAuth flow for "${name}" failed: ${causeText(error)}`);
    } finally {
      for (const end of ends) end();
      shared.waiters = shared.waiters.filter((waiter) => waiter.flowId !== flowId);
    }
  }

  return {
    async begin(id, name, start) {
      const of = await shared(id, start);
      // The authorization may have ended between its start and now.
      if (open.get(id) === undefined) throw new Error('the sign-in was ended');
      const flowId = randomUUID();
      const stopIdle = clock.setTimeout(() => release(flowId, 'nobody has completed the sign-in'), IDLE_MS);
      of.handles.add(flowId);
      handles.set(flowId, { name, shared: of, stopIdle });
      return { flowId, authorizationUrl: of.authorization.authorizationUrl, expiresAt: clock.now() + IDLE_MS };
    },

    async complete(flowId, options) {
      const handle = handles.get(flowId);
      if (!handle) throw new ServiceError('validation.failed', `Unknown MCP OAuth flow: ${flowId}`);
      const { shared: of } = handle;
      const { redirectUrl } = options;
      const callback = redirectUrl === undefined ? undefined : callbackQuery(redirectUrl, of.authorization);
      handle.stopIdle();
      const done = wait(flowId, handle, options);
      if (callback) of.authorization.arrive(callback);
      try {
        await done;
        over(of, 'the sign-in is over');
      } catch (error) {
        // A cancelled handle leaves the authorization to the other handles.
        if (handles.has(flowId)) over(of, 'the sign-in has failed');
        throw error;
      }
    },

    cancel: (flowId) => release(flowId, 'the sign-in was cancelled'),

    end(id, reason) {
      void open.get(id)?.then(
        (of) => over(of, reason),
        () => undefined,
      );
    },

    close() {
      closed = true;
      for (const { shared: of } of handles.values()) over(of, 'the server is shutting down');
    },
  };
}

/** Throws `validation.failed` unless it is the callback address of the flow, with a query that carries its `state`. */
function callbackQuery(text: string, { callbackUrl, isAnswer }: Authorization): URLSearchParams {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || `${url.origin}${url.pathname}` !== callbackUrl || !isAnswer(url.searchParams)) {
    throw invalidField('redirectUrl', `must be the callback address of this flow with its query: ${callbackUrl}?…`);
  }
  return url.searchParams;
}
