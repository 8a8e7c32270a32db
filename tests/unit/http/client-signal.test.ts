import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { until } from '#support/patience.ts';
import { RequestAborted } from '#utils/http/body.ts';
import { clientSignal } from '#utils/http/client-signal.ts';

async function opened() {
  let response: ServerResponse | undefined;
  const server = createServer((_request, its) => void (response = its));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const socket = connect(typeof address === 'object' && address ? address.port : 0, '127.0.0.1');
  socket.on('error', () => undefined).resume();
  socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  return { socket, response: await until(() => response) };
}

it('is aborted when the client leaves before the end of the answer, also if it had left before', async () => {
  const { socket, response } = await opened();
  const signal = clientSignal(response);
  expect(signal.aborted).toBe(false);
  socket.destroy();
  await until(() => signal.aborted);
  expect(signal.reason).toBeInstanceOf(RequestAborted);
  expect(clientSignal(response).reason).toBeInstanceOf(RequestAborted);
});

it('is not aborted by an answer that is complete', async () => {
  const { socket, response } = await opened();
  const signal = clientSignal(response);
  response.end('x');
  await until(() => response.closed && socket.closed);
  expect(signal.aborted).toBe(false);
  expect(clientSignal(response).aborted).toBe(false);
});
