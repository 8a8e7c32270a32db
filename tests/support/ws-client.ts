/**
 * A WebSocket client for tests. Every frame it receives is checked against the server's own `/asyncapi.json`: the first
 * one that does not match fails whatever the test waits for next, and `close()` at the latest.
 */
import { WebSocket } from 'ws';
import { z } from 'zod';
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
  /** The subprotocol that the server chose; empty when none. */
  readonly protocol: string;
  /** Sends a request frame and waits for its ack. An id is added unless given. */
  send(frame: { type: string; id?: string | number; payload?: unknown }): Promise<Ack>;
  /** Sends anything, as a text frame or, if bytes, as a binary one. */
  sendRaw(data: string | Uint8Array): void;
  /** The first frame, received already or yet to come, that `predicate` is true for. */
  waitFor(predicate: (frame: ReceivedFrame) => boolean): Promise<ReceivedFrame>;
  /** Called with each frame that comes from here on. */
  onFrame(listener: (frame: ReceivedFrame) => void): void;
  /** Frames of one session's stream, volatile ones left out. */
  durable(sessionId: string): ReceivedFrame[];
  /** Stops and resumes reading from the socket. */
  pause(): void;
  resume(): void;
  /** Ends the connection and fails if any frame did not match its schema. */
  close(): Promise<void>;
  /** Code and reason of the connection's end, whoever ended it. */
  readonly closed: Promise<{ code: number; reason: string }>;
}

export interface ConnectOptions {
  /** Sent in the Authorization header; the server's own unless given. Null: none. */
  token?: string | null;
  protocols?: string[];
  headers?: Record<string, string>;
  /** Path and query of the upgrade. */
  path?: string;
}

/** What an upgrade was refused with. */
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
  { token = server.token, protocols = [], headers = {}, path = '/api/v1/ws' }: ConnectOptions = {},
): Promise<WsClient> {
  const schemas = await schemasOf(server.url, server.token);
  const authorization: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
  const socket = new WebSocket(server.url.replace(/^http/, 'ws') + path, protocols, {
    headers: { ...authorization, ...headers },
    perMessageDeflate: false,
  });
  const frames: ReceivedFrame[] = [];
  const requested = new Map<string | number, string>();
  const listeners = new Set<() => void>();
  const followers = new Set<(frame: ReceivedFrame) => void>();
  /** The first frame that is not as documented. */
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
      // What was sent raw is the test's affair; unknown frame types can only be refused.
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
