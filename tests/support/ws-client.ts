/**
 * A WebSocket client for tests. Every received frame is checked against the server's `/asyncapi.json`: the first
 * mismatch fails the test's next wait, and `close()` at the latest.
 */
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import * as z from 'zod';
import { UNLISTED_FRAMES, schemasOf } from './frame-schemas.ts';
import { PATIENCE_MS } from './patience.ts';

const receivedSchema = z.looseObject({
  type: z.string(),
  id: z.union([z.string(), z.number()]).optional(),
  session_id: z.string().optional(),
  terminal_id: z.string().optional(),
  seq: z.number().optional(),
  volatile: z.literal(true).optional(),
  offset: z.number().optional(),
  epoch: z.string().optional(),
  timestamp: z.string().optional(),
  code: z.number().optional(),
  msg: z.string().optional(),
  payload: z.looseObject({}),
});
export type ReceivedFrame = z.infer<typeof receivedSchema>;

export interface Ack extends ReceivedFrame {
  code: number;
  msg: string;
}

export interface WsClient {
  /** The frame `server_hello`. */
  readonly hello: ReceivedFrame;
  /** All frames received, in order, the hello first. */
  readonly frames: readonly ReceivedFrame[];
  /** The subprotocol that the server chose; empty if none. */
  readonly protocol: string;
  /** Sends a request frame and waits for its ack. Adds an id if there is none. */
  send(frame: { type: string; id?: string | number; payload?: unknown }): Promise<Ack>;
  /** Sends a string as a text frame, bytes as a binary frame. */
  sendRaw(data: string | Uint8Array): void;
  /** The first frame, past or future, for which `predicate` returns true. */
  waitFor(predicate: (frame: ReceivedFrame) => boolean): Promise<ReceivedFrame>;
  /** Calls `listener` with each frame from now on. */
  onFrame(listener: (frame: ReceivedFrame) => void): void;
  /** Durable frames of one session's stream. */
  durable(sessionId: string): ReceivedFrame[];
  /** Pauses and resumes reading from the socket. */
  pause(): void;
  resume(): void;
  /** Closes the connection and fails if any frame did not match its schema. */
  close(): Promise<void>;
  /** Code and reason of the close, by either side. */
  readonly closed: Promise<{ code: number; reason: string }>;
}

export interface ConnectOptions {
  /** Sent in the Authorization header; default: the server's token. Null sends none. */
  token?: string | null;
  protocols?: string[];
  headers?: Record<string, string>;
  /** Path and query of the upgrade. */
  path?: string;
  /** Opens the connection that the upgrade is sent on; default: one to the server's port. */
  createConnection?: () => Duplex;
}

/** The response that refused an upgrade. */
export class RefusedUpgrade extends Error {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;

  constructor(status: number, headers: NodeJS.Dict<string | string[]>, body: string) {
    super(`upgrade refused with ${status}`);
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

/** Connects and waits for the hello. Rejects with `RefusedUpgrade`, or with the socket's error. */
export async function connect(
  server: { url: string; token: string },
  { token = server.token, protocols = [], headers = {}, path = '/api/v1/ws', createConnection }: ConnectOptions = {},
): Promise<WsClient> {
  const schemas = await schemasOf(server.url, server.token);
  const authorization: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
  const socket = new WebSocket(server.url.replace(/^http/, 'ws') + path, protocols, {
    headers: { ...authorization, ...headers },
    perMessageDeflate: false,
    ...(createConnection ? { createConnection } : {}),
  });
  const frames: ReceivedFrame[] = [];
  const requested = new Map<string | number, string>();
  const listeners = new Set<() => void>();
  const followers = new Set<(frame: ReceivedFrame) => void>();
  /** The first frame that does not match the document. */
  let violation: Error | undefined;
  let ended: Error | undefined;
  let nextId = 0;

  function check(frame: ReceivedFrame): void {
    const { type, id, session_id: sessionId } = frame;
    if (type === 'event.fs.changed') schemas.check('event_fs_changed', frame);
    else if (type.startsWith('terminal_')) schemas.check(type, frame);
    else if (sessionId !== undefined) schemas.check('session_event', frame);
    else if (type === 'ack') {
      const request = requested.get(id ?? '');
      // Raw frames are not checked; an unknown frame type can only be refused.
      if (request !== undefined && (frame.code === 0 || schemas.has(`${request}_ack`))) {
        schemas.check(`${request}_ack`, frame);
      }
    } else if (!UNLISTED_FRAMES.has(type)) schemas.check(type, frame);
  }

  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => {
      resolve({ code, reason: reason.toString() });
      ended ??= new Error(`the connection ended with ${code} ${reason.toString()}`);
      for (const listener of listeners) listener();
    });
  });
  socket.on('message', (data, isBinary) => {
    try {
      if (isBinary) throw new Error('the server sent a binary frame');
      const frame = receivedSchema.parse(JSON.parse(data.toString()));
      frames.push(frame);
      check(frame);
      for (const follower of followers) follower(frame);
    } catch (error) {
      violation ??= error instanceof Error ? error : new Error(String(error));
    }
    for (const listener of listeners) listener();
  });

  function waitFor(predicate: (frame: ReceivedFrame) => boolean, from = 0): Promise<ReceivedFrame> {
    return new Promise((resolve, reject) => {
      let seen = from;
      const settle = (outcome: ReceivedFrame | Error) => {
        listeners.delete(look);
        clearTimeout(timer);
        if (outcome instanceof Error) reject(outcome);
        else resolve(outcome);
      };
      const look = () => {
        if (violation) return settle(violation);
        for (let frame = frames[seen]; frame; frame = frames[(seen += 1)]) if (predicate(frame)) return settle(frame);
        if (ended) settle(ended);
      };
      const timer = setTimeout(() => {
        settle(new Error(`no such frame; got ${frames.map(({ type }) => type).join(', ')}`));
      }, PATIENCE_MS);
      listeners.add(look);
      look();
    });
  }

  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
    socket.once('unexpected-response', (_request, response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        reject(new RefusedUpgrade(response.statusCode ?? 0, response.headers, Buffer.concat(chunks).toString()));
      });
    });
  });
  socket.on('error', (error) => (ended ??= error));
  const hello = await waitFor(() => true);

  return {
    hello,
    frames,
    protocol: socket.protocol,
    async send(frame) {
      nextId += 1;
      const id = frame.id ?? `q${nextId}`;
      requested.set(id, frame.type);
      const from = frames.length;
      socket.send(JSON.stringify({ ...frame, id }));
      const ack = await waitFor((each) => each.type === 'ack' && each.id === id, from);
      return { ...ack, code: ack.code ?? -1, msg: ack.msg ?? '' };
    },
    sendRaw: (data) => socket.send(data),
    waitFor: (predicate) => waitFor(predicate),
    onFrame: (listener) => void followers.add(listener),
    durable: (sessionId) =>
      frames.filter(
        ({ type, session_id, volatile }) => session_id === sessionId && !volatile && !type.startsWith('terminal_'),
      ),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    async close() {
      socket.close();
      await closed;
      if (violation) throw violation;
    },
    closed,
  };
}
