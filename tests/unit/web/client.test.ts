/** The client against a small server of the test: real HTTP, real WebSocket, scripted replies. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { itemId } from '#server/transcript/reducer/state.ts';
import {
  ApiError,
  ConnectionError,
  createClient,
  createPromptSender,
  type Client,
  type ContentPart,
  type Item,
  type TranscriptOp,
  type TranscriptPage,
} from '@service-code/client';
import { SESSION } from './session-frames.ts';
import { tool, turn } from './transcripts.ts';
import { eventually } from '#support/patience.ts';

interface Received {
  type: string;
  id: string;
  payload: { transcript?: Record<string, string>; transcript_since?: Record<string, number> };
}

let http: Server;
let sockets: WebSocketServer;
let client: Client;
/** The token of the client. */
let token: string;
let peer: WebSocket;
let received: Received[];
let subprotocols: string[];
/** Requests below the session. */
let asked: string[];
/** The reply of `GET transcript`; undefined breaks the connection, a rejection becomes `session.not_found`. */
let answerPage: () => Promise<TranscriptPage | undefined>;
/** Whether the batches continue from the client's position. */
let complete: boolean;
/** Bodies of `POST prompts`, and the codes of their replies: `lost` gets no reply. */
let submitted: { prompt_id: string; content: ContentPart[] }[];
let promptCodes: (number | 'lost')[];
/** Called for a `subscribe_v2`, before its ack. */
let onFollow: () => void;

const send = (frame: object) => peer.send(JSON.stringify(frame));

const turnItem = (ordinal: number, state: 'running' | 'cancelled' = 'running'): Item => ({
  kind: 'turn',
  turnId: `t${ordinal}`,
  ordinal,
  state,
  origin: { kind: 'user' },
  steps: [],
});
const page = (items: Item[]): TranscriptPage => ({
  agent_id: 'main',
  items,
  has_more: false,
  tasks: [],
  interactions: [],
  attachments: [],
  todos: [],
  prompts: [],
  meta: {},
  agents: [],
  pending_interactions: [],
  seq: 5,
});

beforeEach(async () => {
  token = 'secret';
  received = [];
  subprotocols = [];
  submitted = [];
  promptCodes = [];
  asked = [];
  complete = true;
  answerPage = async () => page([turnItem(0)]);
  onFollow = () => undefined;
  http = createServer((request, response) => {
    const reply = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body));
    if (request.headers.authorization !== 'Bearer secret')
      return reply(401, { code: 40101, msg: 'Unauthorized', data: null });
    const [, below = ''] = request.url?.split(`/base/api/v1/sessions/${SESSION}`) ?? [];
    if (below) asked.push(below);
    if (below.startsWith('/transcript/ops')) {
      return reply(200, { code: 0, msg: 'success', data: { agent_id: 'main', batches: [], latest_seq: 6, complete } });
    }
    if (below.startsWith('/transcript?')) {
      return void answerPage().then(
        (data) => (data ? reply(200, { code: 0, msg: 'success', data }) : request.socket.destroy()),
        () => reply(200, { code: 40401, msg: 'session x does not exist', data: null }),
      );
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
      if (frame.type !== 'subscribe_v2') return;
      onFollow();
      const payload = { accepted: [SESSION], not_found: [], resync_required: [], cursors: {} };
      send({ type: 'ack', id: frame.id, code: 0, msg: 'success', payload });
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  client = createClient({
    baseUrl: `http://127.0.0.1:${port}/base/`,
    token: () => token,
    WebSocket,
    firstDelayMs: 20,
  });
});

afterEach(async () => {
  client.close();
  for (const connected of sockets.clients) connected.terminate();
  await new Promise((resolve) => http.close(resolve));
});

describe('REST', () => {
  it('unwraps data and throws coded errors', async () => {
    await expect(client.rest.session('x')).rejects.toMatchObject({ code: 40401, message: 'session x does not exist' });
    await expect(client.rest.session('x')).rejects.toBeInstanceOf(ApiError);
    expect(await client.rest.session('session/1')).toMatchObject({ url: '/base/api/v1/sessions/session%2F1' });
  });

  it('distinguishes a refused token from an unreachable server and another one', async () => {
    const { port } = http.address() as AddressInfo;
    const stranger = createClient({ baseUrl: `http://127.0.0.1:${port}/`, token: () => 'wrong', WebSocket });
    await expect(stranger.rest.meta()).rejects.toMatchObject({ code: 40101, status: 401 });
    stranger.close();
    await expect(client.rest.session('proxy')).rejects.toBeInstanceOf(ConnectionError);
  });
});

it('cancels the wait for the ack of a frame', async () => {
  await eventually(() => expect(client.socket.connection.kind).toBe('open'));
  const controller = new AbortController();
  const options = { signal: controller.signal };
  const ack = client.socket.request('abort', { session_id: SESSION, prompt_id: 'p' }, options);
  await eventually(() => expect(received).toMatchObject([{ type: 'abort' }]));
  controller.abort(new Error('closed'));
  await expect(ack).rejects.toThrow('closed');
  await expect(client.socket.request('unsubscribe', { session_ids: [] }, options)).rejects.toThrow('closed');
  expect(received).toHaveLength(1);
});

describe('a sent prompt', () => {
  const words = (text: string): ContentPart[] => [{ type: 'text', text }];
  const ids = () => submitted.map((body) => body.prompt_id);
  const sender = () => createPromptSender(client.rest, SESSION);

  it('has a new id for each call', async () => {
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
  ])('keeps its id after a lost reply, and counts as sent when the first one %s', async (_, code) => {
    const send = sender();
    promptCodes = ['lost', 'lost', code];
    await expect(send(words('fix it'))).rejects.toBeInstanceOf(ConnectionError);
    await expect(send(words('fix it'))).rejects.toBeInstanceOf(ConnectionError);
    await send(words('fix it'));
    expect(new Set(ids()).size).toBe(1);
    // A prompt that is sent after that is a new one.
    await send(words('fix it'));
    expect(new Set(ids()).size).toBe(2);
  });

  it('keeps its id after a refusal that does not concern the lost one', async () => {
    const send = sender();
    promptCodes = ['lost', 40101];
    await expect(send(words('fix it'))).rejects.toBeInstanceOf(ConnectionError);
    await expect(send(words('fix it'))).rejects.toMatchObject({ code: 40101 });
    await send(words('fix it'));
    expect(new Set(ids()).size).toBe(1);
  });

  it('gets another id when it was changed or refused', async () => {
    const send = sender();
    promptCodes = ['lost', 40110, 40903];
    await expect(send(words('fix it'))).rejects.toBeInstanceOf(ConnectionError);
    await expect(send(words('fix it now'))).rejects.toMatchObject({ code: 40110 });
    await expect(send(words('fix it now'))).rejects.toMatchObject({ code: 40903 });
    expect(new Set(ids()).size).toBe(3);
  });
});

describe('a followed session', () => {
  const agent = 'agent-1';
  const follows = () => received.filter((frame) => frame.type === 'subscribe_v2').map(({ payload }) => payload);
  const ops = (seq: number, list: TranscriptOp[], agent_id = 'main') =>
    send({
      type: 'transcript.ops',
      session_id: SESSION,
      seq: 0,
      volatile: true,
      payload: { type: 'transcript.ops', agent_id, seq, ops: list },
    });

  function follow() {
    const failures: string[] = [];
    let missed = 0;
    const follower = client.follow(SESSION, {
      changed: () => undefined,
      failed: ({ message }) => failures.push(message),
      eventsMissed: () => (missed += 1),
    });
    const turns = (agentId = 'main') => follower.agents.get(agentId)?.items.map(itemId) ?? [];
    return { follower, failures, turns, missed: () => missed };
  }

  it('reads the newest turns, then follows the main agent in detail', async () => {
    const { turns, follower } = follow();
    await eventually(() => expect(follows()).toHaveLength(1));
    expect(subprotocols).toEqual(['service-code.bearer.secret']);
    expect(follows()[0]).toEqual({
      session_id: SESSION,
      transcript: { '*': 'turn', main: 'delta' },
      transcript_since: { main: 5 },
    });
    expect(turns()).toEqual(['t0']);
    ops(5, [turn(7)]);
    ops(6, [turn(1)]);
    await eventually(() => expect(turns()).toEqual(['t0', 't1']));
    follower.close();
    await eventually(() => expect(received.at(-1)?.type).toBe('unsubscribe'));
  });

  it('resumes from its mark after a broken connection, and requests the ops that it missed', async () => {
    const { turns } = follow();
    await eventually(() => expect(follows()).toHaveLength(1));
    expect(turns()).toEqual(['t0']);
    onFollow = () => ops(6, [turn(1)]);
    peer.terminate();
    await eventually(() => expect(turns()).toEqual(['t0', 't1']));
    expect(follows().at(-1)?.transcript_since).toEqual({ main: 5 });
    await eventually(() => expect(asked.at(-1)).toBe('/transcript/ops?agent_id=main&since_seq=6'));
    expect(asked.filter((path) => path.startsWith('/transcript?'))).toHaveLength(1);
  });

  it('re-reads changes without a frame: the session was closed while the connection was broken', async () => {
    const { turns } = follow();
    await eventually(() => expect(turns()).toEqual(['t0']));
    complete = false;
    answerPage = async () => page([turnItem(0, 'cancelled'), turnItem(1)]);
    peer.terminate();
    await eventually(() => expect(turns()).toEqual(['t0', 't1']));
  });

  it('follows another agent in detail until its last viewer closes it', async () => {
    const { follower } = follow();
    await eventually(() => expect(follows()).toHaveLength(1));
    const [one, other] = [follower.open(agent), follower.open(agent)];
    await eventually(() => expect(follows().at(-1)?.transcript).toMatchObject({ [agent]: 'delta' }));
    one();
    other();
    await eventually(() => expect(follows().at(-1)?.transcript).toEqual({ '*': 'turn', main: 'delta' }));
  });

  it.each([false, true])(
    'accumulates the chunks of live output until the result; while it is read: %s',
    async (early) => {
      const printed = (words: string) => tool('t0.1', 'c', { progress: { kind: 'stdout', text: words } });
      const print = () => {
        ops(6, [printed('one ')]);
        ops(7, [printed('two')]);
      };
      if (early) onFollow = print;
      const { follower, turns } = follow();
      await eventually(() => expect(turns()).toEqual(['t0']));
      await eventually(() => expect(follows()).toHaveLength(1));
      const shown = () => {
        const item = follower.agents.get('main')?.items[0];
        const call = item?.kind === 'turn' ? item.steps[0]?.frames[0] : undefined;
        return call?.kind === 'tool' ? [call.state, call.progress?.text] : [];
      };
      if (!early) print();
      await eventually(() => expect(shown()).toEqual(['running', 'one two']));
      ops(8, [tool('t0.1', 'c', { state: 'done', output: 'all' })]);
      await eventually(() => expect(shown()).toEqual(['done', undefined]));
    },
  );

  it('reports once that events may have been missed: for each connection, when it is subscribed, and for a resync', async () => {
    const { missed, follower } = follow();
    await eventually(() => expect(missed()).toBe(1));
    expect(follows()).toHaveLength(1);
    follower.open(agent);
    await eventually(() => expect(follows()).toHaveLength(2));
    peer.terminate();
    await eventually(() => expect(missed()).toBe(2));
    expect(follows()).toHaveLength(3);
    const payload = { reason: 'buffer_overflow', current_seq: 7 };
    send({ type: 'resync_required', timestamp: '', payload: { ...payload, session_id: 'session_other' } });
    send({ type: 'resync_required', timestamp: '', payload: { ...payload, session_id: SESSION } });
    await eventually(() => expect(missed()).toBe(3));
  });

  it('reports that the session does not exist', async () => {
    answerPage = () => Promise.reject(new Error('gone'));
    const { failures } = follow();
    await eventually(() => expect(failures).toEqual(['session x does not exist']));
  });

  it('retries a request that failed while the connection stayed open', async () => {
    let tries = 0;
    answerPage = async () => {
      tries += 1;
      return tries === 1 ? undefined : page([turnItem(0)]);
    };
    const { turns } = follow();
    await eventually(() => expect(turns()).toEqual(['t0']));
  });
});

it('rejects requests of a broken connection, and reports the states of the connection', async () => {
  const states: string[] = [];
  client.socket.onConnection((state) => states.push(state.kind));
  await eventually(() => expect(client.socket.connection.kind).toBe('open'));
  const request = client.socket.request('unsubscribe', { session_ids: [] });
  await eventually(() => expect(received.at(-1)?.type).toBe('unsubscribe'));
  peer.terminate();
  await expect(request).rejects.toBeInstanceOf(ConnectionError);
  await eventually(() => expect(states.slice(-3)).toEqual(['waiting', 'connecting', 'open']));
});

it('waits for another token when that of the connection was replaced', async () => {
  const states: string[] = [];
  client.socket.onConnection((state) => states.push(state.kind));
  await eventually(() => expect(client.socket.connection.kind).toBe('open'));
  const request = client.socket.request('unsubscribe', { session_ids: [] });
  await eventually(() => expect(received.at(-1)?.type).toBe('unsubscribe'));
  peer.close(4401, 'token replaced');
  await expect(request).rejects.toBeInstanceOf(ConnectionError);
  expect(client.socket.connection.kind).toBe('refused');
  client.socket.probe();
  expect(client.socket.connection.kind).toBe('refused');
  token = 'another';
  client.socket.probe();
  await eventually(() => expect(client.socket.connection.kind).toBe('open'));
  expect(subprotocols).toEqual(['service-code.bearer.another']);
  // Here the new token is available before the server closes the connection.
  token = 'next';
  peer.close(4401, 'token replaced');
  await eventually(() => expect(states.slice(-2)).toEqual(['connecting', 'open']));
  await eventually(() => expect(subprotocols).toEqual(['service-code.bearer.next']));
  expect(states).not.toContain('waiting');
});
