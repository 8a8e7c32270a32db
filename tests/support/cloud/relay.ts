/**
 * The cloud's relay: sessions, registry of devices, tunnels, and the forwarding of browsers' requests to devices in path
 * mode. Accounts of browsers are not part of it.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { json } from 'node:stream/consumers';
import { WebSocketServer, type WebSocket } from 'ws';
import { onTestFinished } from 'vitest';
import * as z from 'zod';
import { systemClock } from '#server/clock.ts';
import { encodeGoAway, SUBPROTOCOL, type GoAway, type Hello, type OpenFacts } from '#server/net/streams/frames.ts';
import { createStreams, type Streams } from '#server/net/streams/streams.ts';
import { StreamReset } from '#server/net/streams/tunnel-stream.ts';

const registrationSchema = z.object({
  device_id: z.string().regex(/^[A-Za-z0-9-]{1,63}$/),
  alias: z.string(),
  platform: z.string(),
  client_version: z.string(),
  local_base_url: z.string(),
  instance_id: z.string(),
});

interface Device {
  device_id: string;
  alias: string;
  platform: string;
  client_version: string;
  local_base_url: string;
  created_at: string;
  updated_at: string;
  last_remote_access_at: string | null;
  active: boolean;
}

/** A tunnel with HELLO and WELCOME. */
export interface RelayTunnel {
  deviceId: string;
  hello: Hello;
  streams: Streams;
  socket: WebSocket;
  /** Headers of the upgrade. */
  headers: IncomingHttpHeaders;
  closed: Promise<{ code: number; reason: string }>;
}

export interface RelayRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: unknown;
}

interface Refusal {
  status: number;
  body?: object;
  headers?: Record<string, string>;
}

export interface TunnelRefusal {
  goAway?: GoAway;
  code: number;
  reason?: string;
}

export interface Relay {
  /** `http://127.0.0.1:<port>`: the relay's base, and the public origin. */
  url: string;
  /** Requests of the REST part, in order. */
  requests: RelayRequest[];
  devices: Map<string, Device>;
  /** All tunnels so far. */
  tunnels: RelayTunnel[];
  /** The open tunnel of the device. */
  tunnel(): RelayTunnel;
  /** Public path of the device, without a final slash. */
  prefix(): string;
  maxDevices: number | undefined;
  /** Answers the next requests of a method and path; the path begins after `/v1/remote`. */
  answerNext(method: string, path: string, ...replies: (Refusal | 'hang')[]): void;
  /** Ends the next tunnels before WELCOME. */
  refuseTunnels(...refusals: (TunnelRefusal | ((ticket: string) => TunnelRefusal))[]): void;
  /** All cloud sessions are unknown from now on. */
  endSessions(): void;
  /** Number of cloud sessions. */
  sessionCount(): number;
  /** All cloud sessions and tickets so far. */
  secrets: string[];
  /** Stops listening and cuts all connections, without close frames. */
  kill(): Promise<void>;
  /** Listens on the same port again. */
  restart(): Promise<void>;
}

export interface RelayOptions {
  /** Whether a request has a valid access token. */
  accepts(headers: IncomingHttpHeaders): boolean;
  /** Address of the browser of a request; default: 203.0.113.7. */
  addressOf?(request: IncomingMessage): string;
  /** Public path of the device that is online, without a final slash; default: `/devices/<id>`. */
  publicPath?: string;
}

const HOP_BY_HOP = ['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'];
const NOT_FORWARDED = ['cookie', 'expect', 'forwarded'];
const NOT_RETURNED = ['set-cookie', 'strict-transport-security', 'alt-svc', 'x-service-relay-error'];
const random = (prefix: string) => `${prefix}-${randomBytes(12).toString('base64url')}`;

/** Headers without hop-by-hop ones and those that `connection` names. */
function endToEnd(raw: readonly string[], isDropped: (name: string) => boolean): [string, string][] {
  const pairs = Array.from({ length: raw.length / 2 }, (_, at): [string, string] => [
    raw[2 * at] ?? '',
    raw[2 * at + 1] ?? '',
  ]);
  const named = pairs
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(',').map((word) => word.trim().toLowerCase()));
  return pairs.filter(([name]) => {
    const lower = name.toLowerCase();
    const isHop = HOP_BY_HOP.includes(lower) || lower.startsWith('proxy-') || named.includes(lower);
    return !isHop && !isDropped(lower);
  });
}

const isForwarded = (name: string) => name.startsWith('x-forwarded-');

/** Starts a relay until the test has finished. */
export async function relayDuringTest({
  accepts,
  addressOf = () => '203.0.113.7',
  publicPath,
}: RelayOptions): Promise<Relay> {
  const sessions = new Set<string>();
  const secrets: string[] = [];
  const tickets = new Map<string, string>();
  const devices = new Map<string, Device>();
  const requests: RelayRequest[] = [];
  const tunnels: RelayTunnel[] = [];
  const open = new Map<string, RelayTunnel>();
  const scripted = new Map<string, (Refusal | 'hang')[]>();
  const refusals: Parameters<Relay['refuseTunnels']> = [];
  const sockets = new Set<Duplex>();
  const webSockets = new WebSocketServer({
    noServer: true,
    maxPayload: 65_541,
    handleProtocols: (offered) => offered.has(SUBPROTOCOL) && SUBPROTOCOL,
  });

  const bearerOf = ({ authorization }: IncomingHttpHeaders) => (authorization ?? '').replace(/^Bearer /, '');
  const error = (status: number, code: string, extra: object = {}): Refusal => ({
    status,
    body: { error: { code, message: `refused: ${code}`, ...extra } },
  });
  const shown = ({ active: _active, ...device }: Device) => ({
    ...device,
    status: open.has(device.device_id) ? 'online' : 'offline',
  });

  function closeTunnel(id: string, code: number, goAway?: GoAway): void {
    const tunnel = open.get(id);
    open.delete(id);
    if (goAway) tunnel?.streams.goAway(goAway);
    tunnel?.streams.close(code, '');
  }

  function register(body: unknown): Refusal {
    const registration = registrationSchema.parse(body);
    const { device_id, alias, platform, client_version, local_base_url } = registration;
    const known = devices.get(device_id);
    const active = [...devices.values()].filter((each) => each.active && each.device_id !== device_id).length;
    if (relay.maxDevices !== undefined && active >= relay.maxDevices) {
      return error(409, 'device_limit', { max_devices: relay.maxDevices });
    }
    const now = new Date().toISOString();
    const device: Device = {
      device_id,
      alias: known?.alias ?? alias,
      platform,
      client_version,
      local_base_url,
      created_at: known?.created_at ?? now,
      updated_at: now,
      last_remote_access_at: known?.last_remote_access_at ?? null,
      active: true,
    };
    devices.set(device_id, device);
    const ticket = random('ticket');
    secrets.push(ticket);
    tickets.set(ticket, device_id);
    return {
      status: 200,
      body: {
        device: shown(device),
        url: `${relay.url}/devices/${device_id}/?rc=1`,
        base_path: `/devices/${device_id}`,
        tunnel_url: `${relay.url.replace(/^http/, 'ws')}/v1/remote/tunnel`,
        tunnel_ticket: ticket,
        ticket_expires_in: 60,
      },
    };
  }

  function answerRest({ method, path, headers, body }: RelayRequest): Refusal | 'hang' {
    const next = scripted.get(`${method} ${path}`)?.shift();
    if (next) return next;
    if (path === '/session') {
      if (method === 'DELETE') return sessions.delete(bearerOf(headers)) ? { status: 204 } : error(401, 'unauthorized');
      if (!accepts(headers)) return error(401, 'unauthorized');
      const session_token = random('session');
      sessions.add(session_token);
      secrets.push(session_token);
      return { status: 200, body: { session_token, expires_in: 3600 } };
    }
    if (!sessions.has(bearerOf(headers))) return error(401, 'unauthorized');
    if (path === '/devices' && method === 'GET') {
      const list = [...devices.values()].map(shown).toSorted((a, b) => b.status.localeCompare(a.status));
      return { status: 200, body: { devices: list, ...(relay.maxDevices && { max_devices: relay.maxDevices }) } };
    }
    if (path === '/devices' && method === 'POST') return register(body);
    const [, id = '', action] = /^\/devices\/([^/]+)(\/deactivate)?$/.exec(path) ?? [];
    const device = devices.get(decodeURIComponent(id));
    if (method === 'DELETE') {
      devices.delete(decodeURIComponent(id));
      closeTunnel(decodeURIComponent(id), 4005);
      return { status: 204 };
    }
    if (!device) return error(404, 'device_not_found');
    if (action !== undefined) {
      device.active = false;
      closeTunnel(device.device_id, 4004);
      return { status: 200, body: shown(device) };
    }
    const { alias } = z.object({ alias: z.string() }).parse(body);
    if (alias === 'invalid') return error(422, 'invalid_alias');
    device.alias = alias;
    return { status: 200, body: shown(device) };
  }

  const PREFIX = /^(\/devices\/([^/]+))(\/.*)$/;

  /** The tunnel and the path on the device of a browser's request; undefined if no device is online for it. */
  function targetOf(request: IncomingMessage) {
    const url = request.url ?? '';
    const [, prefix = '', id = '', path = ''] = url.startsWith(`${publicPath}/`)
      ? [url, publicPath, relay.tunnel().deviceId, url.slice(publicPath?.length)]
      : (PREFIX.exec(url) ?? []);
    const tunnel = open.get(id);
    if (!tunnel) return undefined;
    const facts: OpenFacts = {
      remote_addr: addressOf(request),
      scheme: 'http',
      host: request.headers.host ?? '',
      prefix,
    };
    return { tunnel, path, prefix, facts };
  }

  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    if (path.startsWith('/v1/remote/')) {
      void (async () => {
        const text =
          request.method === 'GET' || request.method === 'DELETE'
            ? undefined
            : await json(request).catch(() => undefined);
        const received = {
          method: request.method ?? '',
          path: path.slice('/v1/remote'.length),
          headers: request.headers,
          body: text,
        };
        requests.push(received);
        const reply = answerRest(received);
        if (reply === 'hang') return;
        response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
        response.end(reply.body && JSON.stringify(reply.body));
      })().catch(() => response.destroy());
      return;
    }
    const target = targetOf(request);
    if (!target) {
      response.writeHead(503, { 'x-service-relay-error': 'device_offline' }).end();
      return;
    }
    const { tunnel, facts, prefix } = target;
    let stream: Duplex;
    try {
      stream = tunnel.streams.open(facts);
    } catch {
      response.writeHead(503, { 'x-service-relay-error': 'busy', 'retry-after': '1' }).end();
      return;
    }
    const headers = endToEnd(
      request.rawHeaders,
      (name) => NOT_FORWARDED.includes(name) || isForwarded(name) || name === 'host',
    );
    const forwarded = httpRequest({
      method: request.method,
      path: target.path,
      headers: [...headers.flat(), 'host', facts.host, 'connection', 'close'],
      createConnection: () => stream,
    });
    let isComplete = false;
    forwarded.on('response', (reply) => {
      const replyHeaders = endToEnd(
        reply.rawHeaders,
        (name) => NOT_RETURNED.includes(name) || name.startsWith('access-control-'),
      ).map(([name, value]) => {
        const isAbsolute = name.toLowerCase() === 'location' && value.startsWith('/');
        return [name, isAbsolute ? `${prefix}${value}` : value];
      });
      response.writeHead(reply.statusCode ?? 502, [...replyHeaders.flat(), 'x-service-relay', '1']);
      reply.pipe(response);
      reply.on('end', () => {
        isComplete = true;
        if (!request.complete) stream.destroy(new StreamReset({ code: 'done' }));
      });
      reply.on('error', () => response.destroy());
      reply.on('aborted', () => response.destroy());
    });
    forwarded.on('error', () => {
      if (isComplete) return;
      if (response.headersSent) response.destroy();
      else response.writeHead(502, { 'x-service-relay-error': 'bad_gateway' }).end();
    });
    response.on('close', () => {
      if (!isComplete) stream.destroy(new StreamReset({ code: 'cancel' }));
    });
    request.on('error', () => undefined);
    request.pipe(forwarded);
  });

  function acceptTunnel(socket: WebSocket, headers: IncomingHttpHeaders): void {
    const ticket = bearerOf(headers);
    const deviceId = tickets.get(ticket);
    tickets.delete(ticket);
    const next = refusals.shift() ?? (deviceId === undefined ? { code: 4001 } : undefined);
    const refusal = typeof next === 'function' ? next(ticket) : next;
    socket.on('error', () => undefined);
    if (refusal || deviceId === undefined) {
      if (refusal?.goAway) socket.send(encodeGoAway(refusal.goAway));
      socket.close(refusal?.code, refusal?.reason);
      return;
    }
    const streams = createStreams({
      socket,
      clock: systemClock,
      end: { tunnelId: random('tunnel') },
      onReady(peer) {
        if (!('device_id' in peer)) return;
        closeTunnel(deviceId, 4003);
        const tunnel: RelayTunnel = {
          deviceId,
          hello: peer,
          streams,
          socket,
          headers,
          closed: once(socket, 'close').then(([code, reason]) => ({ code: Number(code), reason: String(reason) })),
        };
        tunnels.push(tunnel);
        open.set(deviceId, tunnel);
      },
    });
    socket.on('message', (data: Buffer, isBinary) => streams.receive(isBinary ? data : data.toString()));
    socket.on('close', () => {
      streams.lost();
      if (open.get(deviceId)?.streams === streams) open.delete(deviceId);
    });
  }

  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    if (request.url === '/v1/remote/tunnel') {
      webSockets.handleUpgrade(request, socket, head, (webSocket) => acceptTunnel(webSocket, request.headers));
      return;
    }
    const target = targetOf(request);
    if (!target) return void socket.end('HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\n\r\n');
    const stream = target.tunnel.streams.open(target.facts);
    const headers = endToEnd(
      request.rawHeaders,
      (name) => NOT_FORWARDED.includes(name) || isForwarded(name) || name === 'host',
    );
    const lines = [['host', target.facts.host], ['connection', 'upgrade'], ['upgrade', 'websocket'], ...headers];
    stream.write(
      `GET ${target.path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
    );
    stream.write(head);
    // The reply is copied with its head.
    stream.pipe(socket).pipe(stream);
    socket.on('close', () => stream.destroy(new StreamReset({ code: 'cancel' })));
    stream.on('close', () => socket.destroy());
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  async function listen(port: number): Promise<void> {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  }
  async function kill(): Promise<void> {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  }
  await listen(0);
  const { port } = server.address() as AddressInfo;
  onTestFinished(async () => {
    if (server.listening) await kill();
  });

  const relay: Relay = {
    url: `http://127.0.0.1:${port}`,
    requests,
    devices,
    tunnels,
    tunnel() {
      const [tunnel] = open.values();
      if (!tunnel) throw new Error('no tunnel is open');
      return tunnel;
    },
    prefix: () => publicPath ?? `/devices/${relay.tunnel().deviceId}`,
    maxDevices: 5,
    answerNext(method, path, ...replies) {
      const key = `${method} ${path}`;
      scripted.set(key, [...(scripted.get(key) ?? []), ...replies]);
    },
    refuseTunnels: (...next) => void refusals.push(...next),
    endSessions: () => sessions.clear(),
    sessionCount: () => sessions.size,
    secrets,
    kill,
    restart: () => listen(port),
  };
  return relay;
}
