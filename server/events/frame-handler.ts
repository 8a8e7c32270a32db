/** How a domain answers a request frame: the frame's declaration in `schema/`, and what handles it. */
import type { z } from 'zod';
import { ServiceError, type ErrorDetail } from '#server/errors/service-error.ts';
import type { StreamPosition } from './frame.ts';

/**
 * Frames of one row are handled one after the other, rows do not wait for each other: so keystrokes keep their order,
 * an abort passes what takes long, and arming a watch holds up no typing.
 */
export type FrameRow = 'terminal' | 'control' | 'ordinary';

/**
 * What bounds a text while it waits: an `answer` counts among the unsent acks, above whose bound no frame is handled; who
 * sends an `event` waits for room after it and has no second one queued; a `replay` is bounded by its handler, which
 * waited for room before (`atLength`). Of a stream that is named the newest are kept, and no session is cut off for it.
 */
export type SendLane = 'answer' | 'event' | 'replay' | { readonly newestOf: string };

/** The connection that a frame came over, as a domain sees it. */
export interface Client {
  readonly id: string;
  /** Writes a text, or its UTF-8, behind what is queued already; nothing once the connection is gone. */
  send(lane: SendLane, text: string | Uint8Array): void;
  /** Resolves when the socket takes data, or never will. */
  room(): Promise<void>;
  /** Called once when the connection is gone, at once if it is: what the client opened ends there. */
  onClose(release: () => void): void;
  /** What the connection has of a session. */
  session(id: string): SessionChannel;
}

/** A connection's subscription to a session, for a domain that tells of the session in frames of its own. */
export interface SessionChannel {
  /** Subscribes to the session's events; the agent filter stays. Undefined for an unknown session. */
  subscribe(): Promise<StreamPosition | undefined>;
  /** Goes with the subscription until it ends, or until another one or nothing takes its place. */
  attach(companion: Companion | undefined): void;
  /**
   * Queues a frame among the session's events: a client that reads too slowly loses it with them. One that has waited
   * already is written at once.
   */
  send(text: Uint8Array, position: StreamPosition, atOnce: boolean): void;
  /** Drops what is queued of the session in favour of one `resync_required`. */
  cut(position: StreamPosition): void;
}

export interface Companion {
  /** Whether an event is not sent because the companion tells of it. */
  hides(event: { type: string; payload: { agentId?: unknown } }): boolean;
  /** What was queued of the session is gone, and the client was told so. */
  cut(): void;
  /** The subscription is over, or the connection. */
  end(): void;
}

export interface FrameHandler {
  readonly type: string;
  readonly row: FrameRow;
  /** It may answer at length, so it waits until the socket takes data. */
  readonly atLength: boolean;
  /** Payload of a refusing ack, unless the frame's own payload is what is wrong or the error brings one. */
  readonly refusal?: object | undefined;
  /** Resolves to the ack's payload, or to undefined for a frame that gets none. Throws `ServiceError` to refuse. */
  answer(payload: unknown, client: Client): Promise<unknown>;
}

/** A frame as `schema/` declares it, by the types of its payload and of its ack. */
interface Declaration<P, A, R> {
  readonly type: string;
  readonly payload: z.ZodType<P>;
  readonly ack?: z.ZodType<A>;
  readonly refusal?: z.ZodType<R>;
}

interface Handling<P, A, R> {
  /** `ordinary` unless given. */
  row?: FrameRow;
  atLength?: boolean;
  /** What a refusing ack says, where that is always the same. */
  refusal?: R;
  handle(payload: P, client: Client): A | Promise<A>;
}

/** The refusal of a payload, field by field. */
export function invalidPayload(details: ErrorDetail[]): ServiceError {
  const [first] = details;
  const reason = first?.path ? `${first.path}: ${first.message}` : (first?.message ?? 'Invalid input');
  return new ServiceError('validation.failed', `Invalid payload: ${reason}`, { details });
}

/** The handler of a declared frame; its payload is validated before `handle` sees it. */
export function defineFrame<P, A = void, R extends object = object>(
  { type, payload }: Declaration<P, A, R>,
  { row = 'ordinary', atLength = false, refusal, handle }: Handling<P, A, R>,
): FrameHandler {
  return {
    type,
    row,
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
