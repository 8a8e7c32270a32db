/** The client against a small server of its own: real HTTP, real WebSocket, scripted answers. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { createClient, type Client } from '../../../web/client/client.ts';
import { ApiError, ConnectionError } from '../../../web/client/errors.ts';
import { createPromptSender } from '../../../web/client/prompt-sender.ts';
import type { ContentPart, EventFrame, Snapshot } from '../../../web/client/types.ts';
import { EPOCH, frameMaker, SESSION, snapshot } from './session-frames.ts';

interface Received {
  type: string;
  id: string;
  payload: { session_ids?: string[]; cursors?: Record<string, { seq: number }> };
}

let http: Server;
let sockets: WebSocketServer;
let client: Client;
let peer: WebSocket;
let received: Received[];
let subprotocols: string[];
/** What `GET snapshot` answers; a test may hold it back. */
let answerSnapshot: () => Promise<Snapshot>;
/** Bodies of `POST prompts`, and the codes they are answered with: `lost` gets no answer. */
let submitted: { prompt_id: string; content: ContentPart[] }[];
let promptCodes: (number | 'lost')[];
/** What a `subscribe` causes before its ack. */
let onSubscribe: (frame: Received) => object;

const send = (frame: object) => peer.send(JSON.stringify(frame));
const subscribes = () => received.filter((frame) => frame.type === 'subscribe');

beforeEach(async () => {
  received = [];
  subprotocols = [];
  submitted = [];
  promptCodes = [];
  answerSnapshot = async () => snapshot({ as_of_seq: 2 });
  onSubscribe = () => ({});
  http = createServer((request, response) => {
    const reply = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body));
    if (request.headers.authorization !== 'Bearer secret')
      return reply(401, { code: 40101, msg: 'Unauthorized', data: null });
    if (request.url === `/base/api/v1/sessions/${SESSION}/snapshot`) {
      return void answerSnapshot().then((data) => reply(200, { code: 0, msg: 'success', data }));
    }
    if (request.method === 'POST' && request.url?.endsWith('/prompts')) {
      return void text(request).then((body) => {
        submitted.push(JSON.parse(body));
        const code = promptCodes.shift() ?? 0;
        return code === 'lost' ? request.socket.destroy() : reply(200, { code, msg: 'said', data: null });
      });
    }
    if (request.url?.includes('session%2F1'))
      return reply(200, { code: 0, msg: 'success', data: { url: request.url } });
    if (request.url?.includes('/proxy')) return void response.end('<html>');
    return reply(200, { code: 40401, msg: 'session x does not exist', data: null });
  });
  sockets = new WebSocketServer({
    server: http,
    path: '/base/api/v1/ws',
    handleProtocols: (offered) => {
      subprotocols = [...offered];
      return subprotocols[0] ?? false;
    },
  });
  sockets.on('connection', (connected) => {
    peer = connected;
    send({ type: 'server_hello', timestamp: '', payload: {} });
    peer.on('message', (data) => {
      const frame = JSON.parse(String(data)) as Received;
      received.push(frame);
      if (frame.type === 'ping') send({ type: 'pong', timestamp: '', payload: { nonce: '' } });
      if (frame.type !== 'subscribe') return;
      const payload = { accepted: [SESSION], not_found: [], resync_required: [], cursors: {}, ...onSubscribe(frame) };
      send({ type: 'ack', id: frame.id, code: 0, msg: 'success', payload });
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  client = createClient({
    baseUrl: `http://127.0.0.1:${port}/base/`,
    token: () => 'secret',
    WebSocket,
    firstDelayMs: 20,
  });
});

afterEach(async () => {
  client.close();
  for (const connected of sockets.clients) connected.terminate();
  await new Promise((resolve) => http.close(resolve));
});

function watch() {
  const seen: string[] = [];
  const feed = client.watch(SESSION, {
    snapshot: (shown) => seen.push(`snapshot ${shown.as_of_seq}`),
    event: (frame: EventFrame) => seen.push(`${frame.type} ${frame.seq}`),
    resumed: () => seen.push('resumed'),
    failed: (error) => seen.push(`failed ${error.message}`),
  });
  return { seen, feed };
}

const started = (frame: ReturnType<typeof frameMaker>) =>
  frame({ type: 'prompt.started', payload: { promptId: 'p1' } });

describe('REST', () => {
  it('unwraps data and throws coded errors', async () => {
    await expect(client.rest.session('x')).rejects.toMatchObject({ code: 40401, message: 'session x does not exist' });
    await expect(client.rest.session('x')).rejects.toBeInstanceOf(ApiError);
    expect(await client.rest.session('session/1')).toMatchObject({ url: '/base/api/v1/sessions/session%2F1' });
  });

  it('tells a refused token from a server that is away or another one', async () => {
    const { port } = http.address() as AddressInfo;
    const stranger = createClient({ baseUrl: `http://127.0.0.1:${port}/`, token: () => 'wrong', WebSocket });
    await expect(stranger.rest.meta()).rejects.toMatchObject({ code: 40101, status: 401 });
    stranger.close();
    await expect(client.rest.session('proxy')).rejects.toBeInstanceOf(ConnectionError);
  });
});

describe('a sent prompt', () => {
  const words = (text: string): ContentPart[] => [{ type: 'text', text }];
  const ids = () => submitted.map((body) => body.prompt_id);
  const sender = () => createPromptSender(client.rest, SESSION);

  it('has an id of its own each time', async () => {
    const send = sender();
    await send(words('go on'));
    await send(words('go on'));
    expect(submitted[0]?.content).toEqual(words('go on'));
    for (const id of ids()) expect(id).toMatch(/^msg_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(new Set(ids()).size).toBe(2);
  });

  it.each([
    ['runs or waits', 40927],
    ['is over', 40903],
  ])('keeps its id when the reply was lost, and counts as sent when the first one %s', async (_, code) => {
    const send = sender();
    promptCodes = ['lost', 'lost', code];
    await expect(send(words('fix it'))).rejects.toBeInstanceOf(ConnectionError);
    await expect(send(words('fix it'))).rejects.toBeInstanceOf(ConnectionError);
    await send(words('fix it'));
    expect(new Set(ids()).size).toBe(1);
    // Written once more after that, it is another prompt.
    await send(words('fix it'));
    expect(new Set(ids()).size).toBe(2);
  });

  it('keeps its id over a refusal that says nothing about the lost one', async () => {
    const send = sender();
    promptCodes = ['lost', 40101];
    await expect(send(words('fix it'))).rejects.toBeInstanceOf(ConnectionError);
    await expect(send(words('fix it'))).rejects.toMatchObject({ code: 40101 });
    await send(words('fix it'));
    expect(new Set(ids()).size).toBe(1);
  });

  it('takes another id when it was changed or refused', async () => {
    const send = sender();
    promptCodes = ['lost', 40110, 40903];
    await expect(send(words('fix it'))).rejects.toBeInstanceOf(ConnectionError);
    await expect(send(words('fix it now'))).rejects.toMatchObject({ code: 40110 });
    await expect(send(words('fix it now'))).rejects.toMatchObject({ code: 40903 });
    expect(new Set(ids()).size).toBe(3);
  });
});

describe('a watched session', () => {
  it('subscribes with the token, reads the snapshot, then passes on newer events once', async () => {
    const frame = frameMaker(0);
    let release = () => {};
    answerSnapshot = () => new Promise((resolve) => (release = () => resolve(snapshot({ as_of_seq: 2 }))));
    const { seen } = watch();
    await vi.waitFor(() => expect(subscribes()).toHaveLength(1));
    expect(subprotocols).toEqual(['service-code.bearer.secret']);
    expect(subscribes()[0]?.payload.cursors).toBeUndefined();
    const [one, two, three] = [started(frame), started(frame), started(frame)];
    for (const early of [one, two, three]) send(early);
    await vi.waitFor(() => expect(sockets.clients.size).toBe(1));
    expect(seen).toEqual([]);
    // The reply may have to wait for the request.
    await vi.waitFor(() => {
      release();
      expect(seen).toEqual(['snapshot 2', 'prompt.started 3']);
    });
    send(three);
    send(started(frame));
    await vi.waitFor(() => expect(seen).toEqual(['snapshot 2', 'prompt.started 3', 'prompt.started 4']));
  });

  it('comes back with its cursor after the line broke, without a new snapshot', async () => {
    const { seen } = watch();
    await vi.waitFor(() => expect(seen).toEqual(['snapshot 2']));
    const frame = frameMaker(2);
    const missed = started(frame);
    onSubscribe = (request) => {
      expect(request.payload.cursors).toEqual({ [SESSION]: { seq: 2, epoch: EPOCH } });
      send(missed);
      return {};
    };
    peer.terminate();
    await vi.waitFor(() => expect(seen).toEqual(['snapshot 2', 'prompt.started 3', 'resumed']));
  });

  it('reads a snapshot when the server cannot replay', async () => {
    const { seen } = watch();
    await vi.waitFor(() => expect(seen).toEqual(['snapshot 2']));
    answerSnapshot = async () => snapshot({ as_of_seq: 1, epoch: 'ep_2' });
    onSubscribe = () => {
      send({
        type: 'resync_required',
        timestamp: '',
        payload: { session_id: SESSION, reason: 'epoch_changed', current_seq: 1 },
      });
      return { resync_required: [SESSION] };
    };
    peer.terminate();
    await vi.waitFor(() => expect(seen).toEqual(['snapshot 2', 'snapshot 1']));
  });

  it('passes deltas on and leaves out those that the snapshot holds', async () => {
    const { seen } = watch();
    await vi.waitFor(() => expect(seen).toEqual(['snapshot 2']));
    const delta = frameMaker(2)({ type: 'assistant.delta', payload: { turnId: 0, delta: 'x' }, offset: 0 });
    send(delta);
    send(delta);
    await vi.waitFor(() => expect(seen).toEqual(['snapshot 2', 'assistant.delta 2', 'assistant.delta 2']));
  });

  it('says when the session does not exist, and stops when closed', async () => {
    onSubscribe = () => ({ accepted: [], not_found: [SESSION] });
    const { seen, feed } = watch();
    await vi.waitFor(() => expect(seen).toEqual([`failed session ${SESSION} does not exist`]));
    feed.close();
    await vi.waitFor(() => expect(received.at(-1)?.type).toBe('unsubscribe'));
  });
});

it('rejects requests of a line that breaks, and reports how the connection fares', async () => {
  const states: string[] = [];
  client.socket.listen({ connection: (state) => states.push(state.kind) });
  await vi.waitFor(() => expect(client.socket.connection.kind).toBe('open'));
  const request = client.socket.request('unsubscribe', { session_ids: [] });
  await vi.waitFor(() => expect(received.at(-1)?.type).toBe('unsubscribe'));
  peer.terminate();
  await expect(request).rejects.toBeInstanceOf(ConnectionError);
  await vi.waitFor(() => expect(states.slice(-3)).toEqual(['waiting', 'connecting', 'open']));
});
