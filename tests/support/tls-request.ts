/** Requests over TLS with a trusted certificate, from a chosen address of this machine. */
import { request, type RequestOptions } from 'node:https';
import { TLSSocket } from 'node:tls';

export interface TlsAnswer {
  status: number;
  text: string;
  /** SHA-256 fingerprint of the server's certificate. */
  fingerprint: string | undefined;
}

/** Sends a request over a connection of its own. */
export function tlsRequest(url: string, options: RequestOptions): Promise<TlsAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent: false, ...options }, (answer) => {
      const { socket } = answer;
      const fingerprint = socket instanceof TLSSocket ? socket.getPeerCertificate().fingerprint256 : undefined;
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (piece: string) => (text += piece));
      answer.on('error', reject);
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text, fingerprint }));
    });
    sent.on('error', reject);
    sent.end();
  });
}
