/** Bounds on how much an MCP server may send: its requests, and its messages per second. */
import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/client';
import { createTokenBucket } from './token-bucket.ts';

/** Requests of the server that the client handles concurrently. */
const MAX_REQUESTS = 16;
/** Requests of the server that are queued. */
const MAX_WAITING = 200;

/** The token bucket of messages: its rate and its capacity. */
const MESSAGES_PER_SECOND = 1000;
const BURST = 5000;

export interface BoundedTransportOptions {
  /** Whether input that is not a message is charged too. Programs print other lines between their messages. */
  countErrors: boolean;
  /** Called a single time, with the reason, when the server exceeds a bound; the transport is closed afterwards. */
  onExceeded(reason: Error): void;
  /** Milliseconds of a monotonic clock. */
  now?: () => number;
}

/** Wraps a transport: a server that exceeds its bounds loses the connection. Takes over the callbacks of `inner`. */
export function boundedTransport(
  inner: Transport,
  { countErrors, onExceeded, now }: BoundedTransportOptions,
): Transport {
  const running = new Set<RequestId>();
  /** Requests whose response is being written: cancelling one does not stop that. */
  const answering = new Set<RequestId>();
  let waiting: { id: RequestId; deliver(): void }[] = [];
  const budget = createTokenBucket({ perSecond: MESSAGES_PER_SECOND, burst: BURST, ...(now && { now }) });
  let over = false;

  function exceed(reason: string): void {
    over = true;
    waiting = [];
    onExceeded(new Error(reason));
    // The close rejects the pending calls, so the reason is published before it.
    setImmediate(() => void inner.close().catch(() => undefined));
  }

  /** Charges one message to the budget; false when the connection is over. */
  function admit(): boolean {
    if (over) return false;
    if (budget.take()) return true;
    exceed(`the server sent more than ${MESSAGES_PER_SECOND} messages a second`);
    return false;
  }

  /** A request whose id is in progress waits for that response: the server may reuse the id as soon as it has it. */
  function request(id: RequestId, deliver: () => void): void {
    if (running.size < MAX_REQUESTS && !running.has(id)) {
      running.add(id);
      deliver();
    } else if (waiting.length < MAX_WAITING) waiting.push({ id, deliver });
    else exceed('the server sends more requests than are answered');
  }

  function release(id: RequestId): void {
    answering.delete(id);
    if (!running.delete(id)) return;
    const next = waiting.find((request) => !running.has(request.id));
    if (!next || over) return;
    waiting = waiting.filter((request) => request !== next);
    running.add(next.id);
    next.deliver();
  }

  /** Whether a waiting request was cancelled: the last one of this id, since earlier ones arrived before it. */
  function cancelWaiting(id: RequestId): boolean {
    const last = waiting.findLast((request) => request.id === id);
    waiting = waiting.filter((request) => request !== last);
    return last !== undefined;
  }

  const transport: Transport = {
    start: () => inner.start(),
    close: () => inner.close(),
    async send(message, options) {
      const id = responseId(message);
      if (id !== undefined) answering.add(id);
      try {
        await inner.send(message, options);
      } finally {
        if (id !== undefined) release(id);
      }
    },
    get sessionId() {
      return inner.sessionId;
    },
    ...(inner.hasPerRequestStream === undefined ? {} : { hasPerRequestStream: inner.hasPerRequestStream }),
    setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
    setSupportedProtocolVersions: (versions) => inner.setSupportedProtocolVersions?.(versions),
  };

  /* oxlint-disable unicorn/prefer-add-event-listener -- transports are no event targets */
  inner.onclose = () => transport.onclose?.();
  inner.onerror = (error) => {
    if (!countErrors || admit()) transport.onerror?.(error);
  };
  inner.onmessage = (message, extra) => {
    if (!admit()) return;
    const deliver = () => transport.onmessage?.(message, extra);
    if ('method' in message && 'id' in message) {
      request(message.id, deliver);
      return;
    }
    const cancelled = cancelledId(message);
    if (cancelled !== undefined && cancelWaiting(cancelled)) return;
    deliver();
    if (cancelled !== undefined && !answering.has(cancelled)) release(cancelled);
  };
  /* oxlint-enable unicorn/prefer-add-event-listener */
  return transport;
}

/** The id of a response, undefined for other messages. */
function responseId(message: JSONRPCMessage): RequestId | undefined {
  return 'method' in message ? undefined : message.id;
}

/** The id of the request that a notification cancels, undefined for other messages. */
function cancelledId(message: JSONRPCMessage): RequestId | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined;
  const id = message.params?.requestId;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}
