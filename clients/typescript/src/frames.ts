/** The frames of the WebSocket as types, by their names in `/asyncapi.json`. */
import type { components } from './generated/asyncapi.ts';

type Schemas = components['schemas'];

/** Frames of the client that get an ack. */
export type RequestType = {
  [K in keyof Schemas]: `${K & string}_ack` extends keyof Schemas ? K : never;
}[keyof Schemas];

export type RequestPayload<T extends RequestType> = Schemas[T] extends { payload?: infer P } ? NonNullable<P> : never;

/** Payload of a successful ack. */
export type AckPayload<T extends RequestType> = Extract<Schemas[`${T}_ack`], { code: 0 }>['payload'];

export interface Ack {
  code: number;
  msg: string;
  payload: object;
}

type SessionEvent = Schemas['session_event'];
type Payload = SessionEvent['payload'];
type PayloadOf<T extends Payload['type']> = Extract<Payload, { type: T }>;

export type TranscriptReset = PayloadOf<'transcript.reset'>;
export type TranscriptBatch = PayloadOf<'transcript.ops'>;
type TranscriptFrameType = 'transcript.reset' | 'transcript.ops';

/** A frame with the form of an event. */
interface EventOf<P extends Payload> extends Omit<SessionEvent, 'type' | 'payload' | 'session_id'> {
  type: P['type'];
  /** `__global__` if the event belongs to no session. */
  session_id: string;
  payload: P;
}
type EachEvent<P extends Payload> = P extends Payload ? EventOf<P> : never;

/** Every event of this server. Clients ignore unknown types, so a `switch` needs no default case. */
export type EventFrame = EachEvent<Exclude<Payload, { type: TranscriptFrameType }>>;

/** The literal type of a frame with a form of its own; those of the client have no timestamp. */
type OwnType<Frame> = Frame extends { type: infer T extends string; timestamp: string }
  ? string extends T
    ? never
    : T
  : never;

/** Frames that the server sends on its own, by type. The event `error` has the type of the system frame, which is not needed. */
export type ServerFrames = {
  [K in keyof Schemas as Exclude<OwnType<Schemas[K]>, 'error'>]: Schemas[K];
} & {
  pong: { type: 'pong'; timestamp: string; payload: { nonce: string } };
  'transcript.reset': EventOf<TranscriptReset>;
  'transcript.ops': EventOf<TranscriptBatch>;
};

/** Types of the frames that `Socket.on` delivers. */
export type FrameType = keyof ServerFrames;

/** Frames that connections attached to a terminal receive. */
export type TerminalFrame = ServerFrames['terminal_output' | 'terminal_exit' | 'terminal_resized'];

/** The client of a change. */
export type Caller = Schemas['Caller'];

/** How much of an agent's transcript is sent. */
export type Grade = Schemas['TranscriptGrade'];

/** Output of a tool call. */
export type ToolOutput = PayloadOf<'tool.result'>['output'];
