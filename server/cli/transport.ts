/** How a command reaches a server: the functions that its client uses for requests and for the socket. */
import type { ClientOptions } from '@service-code/client';
import { errorMessage } from '#server/errors/service-error.ts';
import { StartError } from '#server/errors/start-error.ts';
import { loadUndici } from '#server/net/load-undici.ts';
import { onlyCertificate } from '#server/net/only-certificate.ts';

export type Transport = Required<Pick<ClientOptions, 'fetch' | 'WebSocket'>>;

/** Accepts the certificate of the file and no other one, whichever names it has. */
async function trusting(path: string): Promise<Transport> {
  const connect = await onlyCertificate(path).catch((error: unknown) => {
    throw new StartError(`cannot use the certificate ${path}: ${errorMessage(error)}`);
  });
  const { Agent, WebSocket } = await loadUndici();
  const dispatcher = new Agent({ connect });
  class TrustingSocket extends WebSocket {
    constructor(url: string, protocols: string[] = []) {
      super(url, { protocols, dispatcher });
    }
  }
  return { fetch: (input, init) => fetch(input, Object.assign({}, init, { dispatcher })), WebSocket: TrustingSocket };
}

/** Without a certificate: those that Node trusts. Undici is loaded where it is needed: Node 20 has no WebSocket. */
export async function transportOf({ certificate }: { certificate?: string | undefined }): Promise<Transport> {
  if (certificate !== undefined) return trusting(certificate);
  return { fetch, WebSocket: globalThis.WebSocket ?? (await loadUndici()).WebSocket };
}
