import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { listenDuringTest } from '#support/listen-during-test.ts';
import { until } from '#support/patience.ts';
import { connectionsAllowed, limitConnections } from '#utils/http/connection-limit.ts';

it.each([
  ['half of many', 4096, 2048],
  ['half, rounded down', 1025, 512],
  ['at most ten thousand', 1_000_000, 10_000],
  ['at most ten thousand where there is no limit', Infinity, 10_000],
  ['what leaves 150 free', 256, 106],
  ['a fifth where 150 cannot stay free', 180, 36],
  ['a fifth of very few', 64, 12],
])('connections are %s: of %d descriptors %d', (_what, descriptors, connections) => {
  expect(connectionsAllowed(descriptors)).toBe(connections);
});

it('a new connection replaces the oldest one without an open request, or is closed', async () => {
  const responses: ServerResponse[] = [];
  const server = createServer((_request, response) => void responses.push(response));
  limitConnections(server, 2);
  const port = await listenDuringTest(server);
  const open = async (send = '') => {
    const socket = connect(port, '127.0.0.1').resume();
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(send);
    return socket;
  };
  const request = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

  const busy = await open(request);
  await until(() => responses.length === 1);
  const idle = await open();
  const third = await open(request);
  await until(() => idle.closed);
  await until(() => responses.length === 2);
  expect(busy.closed || third.closed).toBe(false);
  const refused = await open();
  await until(() => refused.closed);
  expect(busy.closed || third.closed).toBe(false);
  // An answer makes the connection replaceable again.
  responses[1]?.end();
  await until(() => responses[1]?.closed);
  const last = await open(request);
  await until(() => third.closed);
  await until(() => responses.length === 3);
  expect(busy.closed || last.closed).toBe(false);
});
