/** The connection of a tunnel, with a relay that chooses its tickets. */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '#server/clock.ts';
import { createHttpClient } from '#server/net/http-client.ts';
import { SUBPROTOCOL } from '#server/net/streams/frames.ts';
import { openTunnel } from '#server/remote/tunnel.ts';
import { listenDuringTest } from '#support/listen-during-test.ts';
import { until } from '#support/patience.ts';

const OPTIONS = {
  headers: {},
  hello: { device_id: 'd', instance_id: 'i', client_version: 'v' },
  clock: systemClock,
  onWelcome: () => undefined,
  onStream: () => undefined,
  onTick: () => undefined,
};

it('cuts its own connection only, also if requests to others contain the ticket', async () => {
  const { fetch, close } = createHttpClient();
  onTestFinished(close);
  let answer: () => void = () => undefined;
  let isReceived = false;
  const other = await listenDuringTest(
    createServer((_request, response) => {
      answer = () => response.end('complete');
      isReceived = true;
    }),
  );
  let isOpen = false;
  let isCut = false;
  let reply: Promise<Response> | undefined;
  const relay = createServer();
  relay.on('upgrade', (request, socket) => {
    reply = fetch(`http://127.0.0.1:${other}/`);
    // The relay never answers a close frame, so that the connection has to be cut.
    socket.resume().on('end', () => socket.end());
    // A connection that is cut before its bytes were read is reset.
    socket.on('error', () => undefined).on('close', () => (isCut = true));
    const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const head = [
      'HTTP/1.1 101 Switching Protocols',
      'Upgrade: websocket',
      'Connection: Upgrade',
      `Sec-WebSocket-Protocol: ${SUBPROTOCOL}`,
      `Sec-WebSocket-Accept: ${createHash('sha1').update(key).digest('base64')}`,
    ];
    void until(() => isReceived).then(() => {
      socket.write(`${head.join('\r\n')}\r\n\r\n`);
      isOpen = true;
    });
  });
  const port = await listenDuringTest(relay);
  const tunnel = await openTunnel({
    url: `ws://127.0.0.1:${port}/`,
    ticket: 'host',
    ...OPTIONS,
  });
  await until(() => isOpen);
  await tunnel.stop(0);
  await tunnel.ended;
  await until(() => isCut);
  answer();
  expect(await (await reply)?.text()).toBe('complete');
});

it('an encrypted relay is requested from the proxy for https', async () => {
  const targets: (string | undefined)[] = [];
  const proxy = createServer();
  proxy.on('connect', ({ url }, socket) => {
    targets.push(url);
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  const port = await listenDuringTest(proxy);
  for (const name of ['https_proxy', 'http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY', 'no_proxy', 'NO_PROXY'])
    vi.stubEnv(name, undefined);
  vi.stubEnv('HTTPS_PROXY', `http://127.0.0.1:${port}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const tunnel = await openTunnel({
    url: 'wss://relay.test/v1/remote/tunnel',
    ticket: 'ticket',
    ...OPTIONS,
  });
  expect(await tunnel.ended).toMatchObject({ code: 1006 });
  expect(targets).toEqual(['relay.test:443']);
});
