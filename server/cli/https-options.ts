/** `--https`, `--cert` and `--key`: which files hold the certificate and its key. */
import { resolve } from 'node:path';
import { StartError } from '#server/errors/start-error.ts';

/** Absolute paths of PEM files. */
export interface CertificateFiles {
  cert: string;
  key: string;
}

/** TLS of a server: own files, or a certificate that it makes. */
export type HttpsOptions = { files: CertificateFiles | undefined };

interface Given {
  https: boolean;
  cert: string | undefined;
  key: string | undefined;
}

/** Returns undefined without `--https`. Throws `StartError` for options that do not belong together. */
export function parseHttps({ https, cert, key }: Given): HttpsOptions | undefined {
  if (!https && (cert !== undefined || key !== undefined)) {
    throw new StartError("options '--cert' and '--key' need '--https'");
  }
  if (!https) return undefined;
  if (cert === undefined && key === undefined) return { files: undefined };
  if (cert === undefined || key === undefined) throw new StartError("options '--cert' and '--key' come together");
  if (cert === '' || key === '') throw new StartError(`option '--${cert === '' ? 'cert' : 'key'}' needs a value`);
  return { files: { cert: resolve(cert), key: resolve(key) } };
}
