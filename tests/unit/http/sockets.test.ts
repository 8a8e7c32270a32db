/** Sockets of the gateway and of plain files, with a real WebSocket library on both sides. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import nodeAdapter from 'crossws/adapters/node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listenDuringTest } from '#support/listen-during-test.ts';
import { WebSocket } from 'ws';
import type { App } from '#server/app/app.ts';
import type { Peer, PeerInfo } from '#server/events/peer.ts';
import { BIND_CONNECTION } from '#server/net/connection-facts.ts';
import { eventually, until } from '#support/patience.ts';
import { peerHooks } from '#utils/http/socket-peers.ts';
import { createPlainSockets } from '#utils/http/websocket.ts';

type Upgrade = ReturnType<typeof createPlainSockets>['upgrade'];

async function listen(upgrade: Upgrade): Promise<string> {
  const server = createServer().on('upgrade', (...args) => void upgrade(...args));
  return `ws://127.0.0.1:${await listenDuringTest(server)}`;
}

async function client(url: string, protocols: string[] = [], headers: Record<string, string> = {}) {
  const socket = new WebSocket(url, protocols, { headers });
  onTestFinished(() => socket.terminate());
  const received: { text: string; isBinary: boolean }[] = [];
  socket.on('message', (data: Buffer, isBinary) => received.push({ text: data.toString(), isBinary }));
  await once(socket, 'open');
  return { socket, received };
}

/** A server whose sockets are peers, with everything that their connections received. */
async function gateway() {
  const opened: { peer: Peer; facts: PeerInfo; messages: string[]; closed: number }[] = [];
  const connections: Pick<App['connections'], 'open'> = {
    open(peer, facts) {
      const connection = { peer, facts, messages: [] as string[], closed: 0 };
      opened.push(connection);
      return {
        message: (data) => void connection.messages.push(Buffer.from(data).toString()),
        closed: () => void (connection.closed += 1),
      };
    },
  };
  const hooks = peerHooks({ connections, access: { bind: { facts: BIND_CONNECTION } } } as App);
  const adapter = nodeAdapter({ hooks, serverOptions: { handleProtocols: (offered) => [...offered][0] ?? false } });
  const url = await listen((request, socket, head) => adapter.handleUpgrade(request, socket, head));
  return {
    opened,
    async connect(protocols?: string[], headers?: Record<string, string>) {
      const before = opened.length;
      const { socket, received } = await client(url, protocols, headers);
      return { socket, received, connection: await until(() => opened[before]) };
    },
  };
}

describe('a peer', () => {
  it('has the facts of its upgrade, with the secret of its header or subprotocol', async () => {
    const { connect } = await gateway();
    const carrier = 'service-code.bearer.secret';
    const bearer = { authorization: 'Bearer other', 'user-agent': 'test/1' };
    const facts = async (...args: Parameters<typeof connect>) => (await connect(...args)).connection.facts;
    expect(await facts([], bearer)).toEqual({
      connection: BIND_CONNECTION,
      remoteAddress: '127.0.0.1',
      userAgent: 'test/1',
      secret: 'other',
    });
    expect(await facts(['chat', carrier])).toMatchObject({ userAgent: null, secret: 'secret' });
    expect(await facts()).toMatchObject({ secret: null });
  });

  it('receives and sends text, in bytes or not', async () => {
    const { connect } = await gateway();
    const { socket, received, connection } = await connect();
    socket.send('é');
    await eventually(() => expect(connection.messages).toEqual(['é']));
    connection.peer.send('text é');
    connection.peer.send(Buffer.from('bytes é'));
    const sent = ['text é', 'bytes é'].map((text) => ({ text, isBinary: false }));
    await eventually(() => expect(received).toEqual(sent));
  });

  it('sends the frames of one turn of the event loop in one write, and those of the next turns too', async () => {
    const { connect } = await gateway();
    const { socket, received, connection } = await connect();
    const chunks: Buffer[] = [];
    // The library's own socket, of which the chunks are those of the network.
    const raw = '_socket' in socket ? (socket._socket as NodeJS.EventEmitter) : undefined;
    raw?.on('data', (chunk: Buffer) => chunks.push(chunk));
    for (let turn = 1; turn <= 3; turn++) {
      chunks.length = 0;
      for (let frame = 0; frame < 50; frame++) connection.peer.send('x');
      await eventually(() => expect(received).toHaveLength(turn * 50));
      expect(chunks).toHaveLength(1);
    }
    expect(connection.peer.bufferedAmount()).toBe(0);
  });

  it('reports what the client has not read', async () => {
    const { connect } = await gateway();
    const { socket, connection } = await connect();
    socket.pause();
    const frame = 'x'.repeat(1_000_000);
    await until(() => {
      connection.peer.send(frame);
      return connection.peer.bufferedAmount() > 1_000_000;
    });
    socket.resume();
    await eventually(() => expect(connection.peer.bufferedAmount()).toBe(0));
  });

  it('that is paused reads nothing until it is resumed', async () => {
    const { connect } = await gateway();
    const { socket, connection } = await connect();
    const other = await connect();
    connection.peer.pause();
    for (let frame = 0; frame < 100; frame++) socket.send('x'.repeat(100_000));
    // What the client has sent to another peer arrives after it.
    other.socket.send('y');
    await eventually(() => expect(other.connection.messages).toEqual(['y']));
    // The socket of a paused peer is full.
    await until(() => socket.bufferedAmount > 0);
    expect(connection.messages.length).toBeLessThan(100);
    connection.peer.resume();
    await eventually(() => expect(connection.messages).toHaveLength(100));
  });

  it('receives once that its socket has closed, by either side', async () => {
    const { opened, connect } = await gateway();
    const byServer = await connect();
    const closed = once(byServer.socket, 'close');
    byServer.connection.peer.close(4000, 'why');
    const [code, reason] = (await closed) as [number, Buffer];
    expect([code, reason.toString()]).toEqual([4000, 'why']);
    const dropped = await connect();
    dropped.connection.peer.terminate();
    await once(dropped.socket, 'close');
    const byClient = await connect();
    byClient.socket.terminate();
    await eventually(() => expect(opened.map((each) => each.closed)).toEqual([1, 1, 1]));
  });
});

describe('sockets of plain files', () => {
  const plain = (hooks: Record<string, unknown> | undefined) => {
    const handler = Object.assign(() => undefined, { __is_handler__: true as const, __websocket__: hooks });
    return createPlainSockets({ resolve: async (path) => (path === '/socket' ? { handler } : undefined) });
  };
  const target = (raw: string) => ({ raw, decoded: raw, segments: [raw.slice(1)], query: '' });

  it('have the hooks of the handler of their path', async () => {
    const hooks = { open: () => undefined };
    expect(await plain(hooks).hooksOf(target('/socket'))).toBe(hooks);
    expect(await plain(hooks).hooksOf(target('/other'))).toBeUndefined();
    expect(await plain({}).hooksOf(target('/socket'))).toBeUndefined();
    expect(await plain(undefined).hooksOf(target('/socket'))).toBeUndefined();
  });

  it('are closed with 1001 when the server stops', async () => {
    const unused = plain({ open: () => undefined });
    unused.close();
    const messages: string[] = [];
    const sockets = plain({
      message: (peer: { send(text: string): void }, message: { text(): string }) => {
        messages.push(message.text());
        peer.send('echo');
      },
    });
    const url = await listen(sockets.upgrade);
    const { socket, received } = await client(`${url}/socket`);
    socket.send('x');
    await eventually(() => expect(received).toEqual([{ text: 'echo', isBinary: false }]));
    expect(messages).toEqual(['x']);
    const closed = once(socket, 'close');
    sockets.close();
    expect((await closed)[0]).toBe(1001);
  });
});
