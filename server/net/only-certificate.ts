/** TLS with exactly one certificate: that of a file, such as a self-signed one. */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ConnectionOptions } from 'node:tls';

/** Options that accept the certificate of the file and no other one, whichever names it has. Throws if it cannot be read. */
export async function onlyCertificate(path: string): Promise<ConnectionOptions> {
  const pem = await readFile(path);
  const expected = new X509Certificate(pem);
  return {
    ca: pem,
    // The certificate of an authority's chain is accepted without the rest of the chain.
    allowPartialTrustChain: true,
    checkServerIdentity: (_host, { raw }) =>
      raw.equals(expected.raw) ? undefined : new Error('the server has another certificate'),
  };
}
