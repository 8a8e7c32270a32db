/**
 * The tunnel against a bare reverse proxy of `node:http`, which opens a connection for each request. Origin, relay, proxy
 * and client run in this process, so the CPU of both ends of the tunnel counts.
 */
import { once } from 'node:events';
import { Agent, createServer, get, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { afterAll, beforeAll, bench, describe } from 'vitest';
import { systemClock } from '#server/clock.ts';
import { SUBPROTOCOL } from '#server/net/streams/frames.ts';
import { createStreams, type Streams } from '#server/net/streams/streams.ts';
import { openTunnel, type Tunnel } from '#server/remote/tunnel.ts';
import { createFigure, report } from './figures.ts';

const MIB = 1024 * 1024;
const LARGE_MIB = 100;
const FACTS = { remote_addr: '127.0.0.1', scheme: 'http', host: 'relay.test', prefix: '' } as const;

const servers: Server[] = [];
const agent = new Agent({ keepAlive: true });
let tunnel: Tunnel;
let relayStreams: Streams;
let proxy = '';
let relay = '';
const small = { proxy: createFigure(), tunnel: createFigure() };
const large = { proxy: createFigure(), tunnel: createFigure() };
const delta = { proxy: createFigure(), tunnel: createFigure() };
let writeDelta: () => void = () => undefined;
let grownMiB = 0;

async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function fetched(url: string): Promise<number> {
  const [response] = (await once(get(url, { agent }), 'response')) as [IncomingMessage];
  let size = 0;
  response.on('data', (chunk: Buffer) => (size += chunk.length));
  await once(response, 'end');
  return size;
}

/** Waits for one event of an event stream that is open already. */
function deltaOf(url: string) {
  let response: IncomingMessage | undefined;
  return async () => {
    if (!response) {
      [response] = (await once(get(url, { agent: false }), 'response')) as [IncomingMessage];
      await once(response, 'data');
    }
    const arrived = once(response, 'data');
    writeDelta();
    await arrived;
  };
}

beforeAll(async () => {
  const chunk = Buffer.alloc(64 * 1024, 1);
  const origin = createServer((request, response) => {
    if (request.url === '/events') {
      response.write('begin');
      writeDelta = () => void response.write('data: {"delta":"some words"}\n\n');
      return;
    }
    if (request.url !== '/large') return void response.end('{"code":0,"data":{}}');
    let left = (LARGE_MIB * MIB) / chunk.length;
    const send = () => {
      while (left-- > 0) if (!response.write(chunk)) return void response.once('drain', send);
      response.end();
    };
    send();
  });
  const originPort = await listen(origin);
  const forward = (connect: () => Parameters<typeof httpRequest>[1]) =>
    createServer((request, response) => {
      const forwarded = httpRequest({
        method: request.method,
        path: request.url,
        headers: { host: 'relay.test', connection: 'close' },
        ...connect(),
      });
      forwarded.on('response', (reply) => {
        response.writeHead(reply.statusCode ?? 502, { 'content-type': 'text/plain' });
        reply.pipe(response);
      });
      request.pipe(forwarded);
    });
  proxy = `http://127.0.0.1:${await listen(forward(() => ({ host: '127.0.0.1', port: originPort, agent: false })))}`;
  const relayServer = forward(() => ({ createConnection: () => relayStreams.open(FACTS) }));
  const relayPort = await listen(relayServer);
  relay = `http://127.0.0.1:${relayPort}`;
  const webSockets = new WebSocketServer({ server: relayServer, handleProtocols: () => SUBPROTOCOL });
  webSockets.on('connection', (socket) => {
    relayStreams = createStreams({ socket, clock: systemClock, end: { tunnelId: 't' } });
    socket.on('message', (data: Buffer) => relayStreams.receive(data));
  });
  const welcome = new Promise<void>((onWelcome) => {
    void openTunnel({
      url: `ws://127.0.0.1:${relayPort}`,
      ticket: 'ticket',
      headers: {},
      hello: { device_id: 'd', instance_id: 'i', client_version: 'bench/1' },
      clock: systemClock,
      onWelcome,
      onStream: (stream) => void origin.emit('connection', stream),
      onTick: () => undefined,
    }).then((opened) => (tunnel = opened));
  });
  await welcome;
  await Promise.all([fetched(`${proxy}/`), fetched(`${relay}/`)]);
});

afterAll(async () => {
  await tunnel.stop(0);
  agent.destroy();
  for (const server of servers) server.closeAllConnections();
  for (const server of servers) server.close();
  const ms = (figure: { perSecond(): number }) => 1000 / figure.perSecond();
  report('small request through the proxy', ms(small.proxy), 'ms');
  report('small request through the tunnel (at most 1.3 ×)', ms(small.tunnel) / ms(small.proxy), '×');
  report(`${LARGE_MIB} MiB through the proxy`, large.proxy.perSecond(), 'MiB/s');
  report(
    `${LARGE_MIB} MiB through the tunnel (at least 0.25 ×)`,
    large.tunnel.perSecond() / large.proxy.perSecond(),
    '×',
  );
  report('delta to a browser, in addition to the proxy (at most 5 ms)', ms(delta.tunnel) - ms(delta.proxy), 'ms');
  report('memory of both ends during a download (at most 80 MiB)', grownMiB, 'MiB');
});

async function measureLarge(url: string, figure: ReturnType<typeof createFigure>): Promise<void> {
  await figure.measure(LARGE_MIB, async () => void (await fetched(`${url}/large`)));
}

describe('a small request', () => {
  // Alternately, so that other load of the machine affects both.
  bench(
    'through the proxy, then through the tunnel',
    async () => {
      await small.proxy.measure(1, async () => void (await fetched(`${proxy}/`)));
      await small.tunnel.measure(1, async () => void (await fetched(`${relay}/`)));
    },
    { time: 4000, warmupTime: 300 },
  );
});

describe('a large download', () => {
  const options = { time: 2000, warmupTime: 0 };
  bench('proxy', () => measureLarge(proxy, large.proxy), options);
  bench(
    'tunnel',
    async () => {
      const before = process.memoryUsage.rss();
      const done = measureLarge(relay, large.tunnel);
      await done;
      grownMiB = Math.max(grownMiB, (process.memoryUsage.rss() - before) / MIB);
    },
    options,
  );
});

describe('a delta', () => {
  const options = { time: 500, warmupTime: 50 };
  let ofProxy: (() => Promise<void>) | undefined;
  let ofTunnel: (() => Promise<void>) | undefined;
  bench('proxy', () => delta.proxy.measure(1, (ofProxy ??= deltaOf(`${proxy}/events`))), options);
  bench('tunnel', () => delta.tunnel.measure(1, (ofTunnel ??= deltaOf(`${relay}/events`))), options);
});
