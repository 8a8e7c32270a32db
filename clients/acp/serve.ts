/** Runs the agent on the editor's streams until one of them ends. */
import { ReadableStream, WritableStream } from 'node:stream/web';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import { startAgent } from './agent.ts';
import type { AcpOptions } from './main.ts';
import { createServerLink } from './server-link.ts';

/** Requests that precede the end of the input are answered for this long. */
const LAST_REPLIES_MS = 5_000;

export async function serve({ version, input, output, log, signal, ...server }: AcpOptions): Promise<void> {
  const link = createServerLink(server);

  async function* chunks(): AsyncGenerator<Uint8Array> {
    for await (const chunk of input) yield chunk;
    // The last requests are received before the stream ends, which closes the connection.
    await turn();
    await Promise.race([running.idle(), delay(LAST_REPLIES_MS, undefined, { ref: false })]);
  }

  /** Resolves when the reader has room for more. */
  const write = (chunk: Uint8Array) =>
    new Promise<void>((resolve, reject) => output.write(chunk, (error) => (error ? reject(error) : resolve())));

  const stream = ndJsonStream(new WritableStream({ write }), ReadableStream.from(chunks()));
  const running = startAgent({ stream, link, version, log });
  const { connection } = running;
  const end = () => connection.close();
  output.on('error', end);
  output.on('close', end);
  signal?.addEventListener('abort', end);
  if (signal?.aborted) end();
  try {
    await connection.closed;
  } finally {
    signal?.removeEventListener('abort', end);
    output.off('close', end);
    running.release();
    link.close();
  }
}
