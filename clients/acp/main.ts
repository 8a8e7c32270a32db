/** A bridge between an editor and the server: the Agent Client Protocol over two streams. */
import type { Readable, Writable } from 'node:stream';
import type { ClientOptions } from '@service-code/client';

/** `fetch` and `WebSocket` are those with which the server is reached. */
export interface AcpOptions extends Pick<ClientOptions, 'fetch' | 'WebSocket'> {
  /** Address of the server's page, with the base path if it has one. */
  url: string;
  token: string;
  /** Version of the product. */
  version: string;
  input: Readable;
  /** Receives messages of the protocol and nothing else. */
  output: Writable;
  log(text: string): void;
  /** Ends the bridge. */
  signal?: AbortSignal;
}

/** Serves the editor; resolves when its input has ended or the signal aborts, after all connections were closed. */
export async function runAcp(options: AcpOptions): Promise<void> {
  const { serve } = await import('./serve.ts');
  await serve(options);
}
