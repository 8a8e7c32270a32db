/** Seam between domains and connections: a domain's handler for a request frame that is declared in `schema/`. */
import type * as z from 'zod';
import { ServiceError, type ErrorDetail } from '#server/errors/service-error.ts';
import type { ConnectionFacts } from '#server/net/connection-facts.ts';
import type { StreamPosition } from './frame.ts';

/**
 * Frames of one lane are handled serially, lanes run concurrently: keystrokes keep their order, an abort overtakes slow
 * requests, and arming a watch does not delay typing.
 */
export type FrameLane = 'terminal' | 'control' | 'ordinary';

/**
 * Bound of a queued text. An `answer` counts as an unsent ack, above whose bound no frame is handled. The sender of an
 * `event` awaits `room()` after it and never queues a second one. The handler of a `replay` awaited `room()` before
 * (`atLength`). Of the stream `newestOf` the newest texts are retained; it causes no session to be cut.
 */
export type SendClass = 'answer' | 'event' | 'replay' | { readonly newestOf: string };

/** The connection on which a frame arrived, as a domain sees it. */
export interface Client {
  readonly id: string;
  /** Facts of the connection on which the upgrade arrived. */
  readonly connection: ConnectionFacts;
  /** Queues a text, as a string or UTF-8, after the frames queued so far; a no-op after the connection has closed. */
  send(lane: SendClass, text: string | Uint8Array): void;
  /** Resolves when the socket is below its high-water mark, or when the connection has closed. */
  room(): Promise<void>;
  /**
   * Registers a release of what the client opened. Called a single time: on close, or after the current synchronous code
   * if the connection has closed already.
   */
  onClose(release: () => void): void;
  /** Returns the connection's channel for a session. */
  session(id: string): SessionChannel;
}

/** A connection's subscription to a session, for a domain that sends frames of its own about the session. */
export interface SessionChannel {
  /** Subscribes to the session's events; the agent filter is unchanged. Undefined for an unknown session. */
  subscribe(): Promise<StreamPosition | undefined>;
  /** Attaches a companion to the subscription, in place of the previous one; it is released with the subscription. */
  attach(companion: Companion | undefined): void;
  /**
   * Queues a frame among the session's events, so that a slow client loses it with them. With `atOnce` it skips the
   * batch, for text that was already delayed.
   */
  send(text: Uint8Array, position: StreamPosition, atOnce: boolean): void;
  /** Replaces the queued frames of the session by one `resync_required`. */
  cut(position: StreamPosition): void;
}

export interface Companion {
  /** Whether an event is omitted because the companion's own frames convey it. */
  hides(event: { type: string; payload: { agentId?: unknown } }): boolean;
  /** The session's queued frames were dropped and a `resync_required` was queued. */
  cut(): void;
  /** The subscription or the connection has ended. */
  end(): void;
}

export interface FrameHandler {
  readonly type: string;
  readonly lane: FrameLane;
  /** The reply may be long, so the frame waits until the socket is below its high-water mark. */
  readonly atLength: boolean;
  /** Payload of a refusing ack, unless the frame's payload is invalid or the error has one. */
  readonly refusal?: object | undefined;
  /** Resolves to the ack's payload, or to undefined for a frame without an ack. Throws a `ServiceError` to refuse. */
  answer(payload: unknown, client: Client): Promise<unknown>;
}

/** The declaration of a frame in `schema/`, with the types of its payload and of its ack. */
interface Declaration<P, A, R> {
  readonly type: string;
  readonly payload: z.ZodType<P>;
  readonly ack?: z.ZodType<A>;
  readonly refusal?: z.ZodType<R>;
}

interface Handling<P, A, R> {
  /** Default: `ordinary`. */
  lane?: FrameLane;
  atLength?: boolean;
  /** Payload of a refusing ack, where it is always the same. */
  refusal?: R;
  handle(payload: P, client: Client): A | Promise<A>;
}

/** Creates the `validation.failed` error of a payload, with one detail per field. */
export function invalidPayload(details: ErrorDetail[]): ServiceError {
  const [first] = details;
  const reason = first?.path ? `${first.path}: ${first.message}` : (first?.message ?? 'Invalid input');
  return new ServiceError('validation.failed', `Invalid payload: ${reason}`, { details });
}

/** Creates the handler of a declared frame; the payload is validated before `handle` runs. */
export function defineFrame<P, A = void, R extends object = object>(
  { type, payload }: Declaration<P, A, R>,
  { lane = 'ordinary', atLength = false, refusal, handle }: Handling<P, A, R>,
): FrameHandler {
  return {
    type,
    lane,
    atLength,
    refusal,
    async answer(given, client) {
      const parsed = payload.safeParse(given);
      if (!parsed.success) {
        const { issues } = parsed.error;
        throw invalidPayload(issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message })));
      }
      return handle(parsed.data, client);
    },
  };
}
