/** The facts of a request that identify its client, for the rules of its connection. */
import type { IncomingMessage } from 'node:http';
import type { ReceivedRequest } from '#server/net/forwarded.ts';

export const receivedRequest = ({ socket, headers }: IncomingMessage): ReceivedRequest => ({
  peer: socket.remoteAddress,
  scheme: 'encrypted' in socket && socket.encrypted === true ? 'https' : 'http',
  headers,
});
