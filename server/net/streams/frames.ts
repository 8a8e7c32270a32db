/**
 * Frames of a tunnel: one per binary WebSocket message. A type byte, the stream id as big-endian u32 (0 for frames of the
 * connection), the payload.
 */
import { isIP } from 'node:net';
import * as z from 'zod';
import { tryParseJson } from '#server/text/json.ts';
import { isValidPrefix } from '../connection-facts.ts';

export const SUBPROTOCOL = 'service-tunnel.v1';
export const HEADER_BYTES = 5;
export const MAX_DATA_BYTES = 65_536;
export const MAX_FRAME_BYTES = HEADER_BYTES + MAX_DATA_BYTES;
const MAX_OPEN_BYTES = 4096;
const PING_BYTES = 8;
/** A receiver announces no smaller window. */
const MIN_WINDOW_BYTES = 131_072;

/** Close codes of a tunnel's WebSocket. */
export const closeCode = {
  stopped: 4000,
  ticketRefused: 4001,
  protocol: 4002,
  replaced: 4003,
  deactivated: 4004,
  deleted: 4005,
  quota: 4006,
  draining: 4007,
  heartbeatLost: 4008,
  grantRevoked: 4009,
} as const;

const TYPES = {
  hello: 0x01,
  welcome: 0x02,
  ping: 0x03,
  pong: 0x04,
  goaway: 0x05,
  open: 0x10,
  data: 0x11,
  window: 0x12,
  end: 0x13,
  reset: 0x14,
} as const;

const limits = { max_streams: z.int().min(1), window: z.int().min(MIN_WINDOW_BYTES).max(0xffff_ffff) };

const helloSchema = z.object({
  protocol: z.literal(1),
  device_id: z.string(),
  instance_id: z.string(),
  client_version: z.string(),
  ...limits,
});
/** First frame of the local end. `window` is in bytes. */
export type Hello = z.infer<typeof helloSchema>;

const welcomeSchema = z.object({
  protocol: z.literal(1),
  tunnel_id: z.string(),
  heartbeat_ms: z.int().min(1),
  ...limits,
});
/** First frame of the relay's end. */
export type Welcome = z.infer<typeof welcomeSchema>;

const goAwaySchema = z.object({
  reason: z.string().max(100),
  message: z.string().optional(),
  retry_after_ms: z.int().min(0).optional(),
});
/** The sender accepts no new streams; existing ones may finish. */
export type GoAway = z.infer<typeof goAwaySchema>;

const openFactsSchema = z.object({
  remote_addr: z.string().refine((text) => isIP(text) !== 0, 'must be an IP address'),
  scheme: z.enum(['https', 'http']),
  /** Public `host[:port]`. */
  host: z
    .string()
    .max(255)
    .regex(/^(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?$/),
  /** Public path before the device's, without a final slash; empty if there is none. */
  prefix: z.string().refine(isValidPrefix),
});
/** The browser's side of a stream, as the relay knows it. */
export type OpenFacts = z.infer<typeof openFactsSchema>;

const RESET_CODES = ['cancel', 'refused', 'local_error', 'timeout', 'protocol', 'done'] as const;
/** The text of a RESET is not read: a peer may quote a secret, and errors of streams are logged. */
const resetSchema = z.object({ code: z.enum(RESET_CODES).catch('protocol') });
export interface Reset {
  code: (typeof RESET_CODES)[number] | 'lost';
  message?: string;
}

export type Frame =
  | { type: 'hello'; hello: Hello }
  | { type: 'welcome'; welcome: Welcome }
  | { type: 'ping' | 'pong'; token: Buffer }
  | { type: 'goaway'; goAway: GoAway }
  | { type: 'open'; id: number; facts: OpenFacts }
  | { type: 'data'; id: number; data: Buffer }
  | { type: 'window'; id: number; bytes: number }
  | { type: 'end'; id: number }
  | { type: 'reset'; id: number; reset: Reset };

/** The peer broke the protocol; its tunnel is closed with 4002. */
export class ProtocolError extends Error {}

function header(type: keyof typeof TYPES, id: number, payloadBytes: number): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + payloadBytes);
  frame[0] = TYPES[type];
  frame.writeUInt32BE(id, 1);
  return frame;
}

function withText(type: keyof typeof TYPES, id: number, payload: object): Buffer {
  const text = Buffer.from(JSON.stringify(payload));
  const frame = header(type, id, text.length);
  text.copy(frame, HEADER_BYTES);
  return frame;
}

export function encodePing(type: 'ping' | 'pong', token: Uint8Array): Buffer {
  const frame = header(type, 0, PING_BYTES);
  frame.set(token, HEADER_BYTES);
  return frame;
}

export function encodeWindow(id: number, bytes: number): Buffer {
  const frame = header('window', id, 4);
  frame.writeUInt32BE(bytes, HEADER_BYTES);
  return frame;
}

/** A DATA frame whose payload the caller fills in, from `HEADER_BYTES` on. */
export const dataFrame = (id: number, bytes: number): Buffer => header('data', id, bytes);
export const encodeEnd = (id: number): Buffer => header('end', id, 0);
export const encodeHello = (hello: Hello): Buffer => withText('hello', 0, hello);
export const encodeWelcome = (welcome: Welcome): Buffer => withText('welcome', 0, welcome);
export const encodeGoAway = (goAway: GoAway): Buffer => withText('goaway', 0, goAway);
export const encodeReset = (id: number, reset: Reset): Buffer => withText('reset', id, reset);

/** Throws `ProtocolError` for facts that no peer would accept. */
export function encodeOpen(id: number, facts: OpenFacts): Buffer {
  const frame = withText('open', id, facts);
  readFrame(frame);
  return frame;
}

function json<Schema extends z.ZodType>(schema: Schema, payload: Buffer, name: string): z.output<Schema> {
  const parsed = schema.safeParse(tryParseJson(payload.toString()));
  if (!parsed.success) throw new ProtocolError(`malformed ${name} frame`);
  return parsed.data;
}

/** Decodes a message; undefined for an unknown type. Throws `ProtocolError` if it is malformed. */
export function readFrame(message: Buffer): Frame | undefined {
  if (message.length < HEADER_BYTES || message.length > MAX_FRAME_BYTES) {
    throw new ProtocolError(`a frame of ${message.length} bytes`);
  }
  const type = message[0] ?? 0;
  const id = message.readUInt32BE(1);
  const payload = message.subarray(HEADER_BYTES);
  const isConnectionFrame = type >= TYPES.hello && type <= TYPES.goaway;
  const isStreamFrame = type >= TYPES.open && type <= TYPES.reset;
  if ((isConnectionFrame && id !== 0) || (isStreamFrame && id === 0)) {
    throw new ProtocolError(`a frame of type ${type} for stream ${id}`);
  }
  const size = (isRight: boolean) => {
    if (!isRight) throw new ProtocolError(`a frame of type ${type} with ${payload.length} bytes of payload`);
  };
  switch (type) {
    case TYPES.hello:
      return { type: 'hello', hello: json(helloSchema, payload, 'HELLO') };
    case TYPES.welcome:
      return { type: 'welcome', welcome: json(welcomeSchema, payload, 'WELCOME') };
    case TYPES.ping:
    case TYPES.pong:
      size(payload.length === PING_BYTES);
      return { type: type === TYPES.ping ? 'ping' : 'pong', token: payload };
    case TYPES.goaway:
      return { type: 'goaway', goAway: json(goAwaySchema, payload, 'GOAWAY') };
    case TYPES.open:
      size(payload.length <= MAX_OPEN_BYTES);
      return { type: 'open', id, facts: json(openFactsSchema, payload, 'OPEN') };
    case TYPES.data:
      size(payload.length > 0);
      return { type: 'data', id, data: payload };
    case TYPES.window: {
      size(payload.length === 4);
      const bytes = payload.readUInt32BE(0);
      if (bytes === 0) throw new ProtocolError('a WINDOW frame without credit');
      return { type: 'window', id, bytes };
    }
    case TYPES.end:
      size(payload.length === 0);
      return { type: 'end', id };
    case TYPES.reset:
      return { type: 'reset', id, reset: json(resetSchema, payload, 'RESET') };
    default:
      return undefined;
  }
}
