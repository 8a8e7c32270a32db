/** The certificate of `--https` in its two files: made if none was given, and read again when they change. */
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { unwatchFile, watchFile } from 'node:fs';
import { chmod, mkdir, readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import { errorMessage } from '#server/errors/service-error.ts';
import { StartError } from '#server/errors/start-error.ts';
import { writeFileAtomic } from '#server/files/atomic-write.ts';
import { plainIp } from '#server/net/trusted-proxies.ts';
import type { CertificateFiles, HttpsOptions } from './https-options.ts';

/** PEM texts. */
export interface CertificatePair {
  cert: string;
  key: string;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const VALID_DAYS = 365;
/** A certificate that ends earlier is replaced. */
const LEAST_DAYS = 30;
/** Between two looks at the files. */
const LOOK_MS = 1000;
/** Another server of the home may write its pair at the same time. */
const ATTEMPTS = 5;
const WILDCARDS = new Set(['0.0.0.0', '::']);

async function readFileOrFail(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new StartError(`cannot read ${path}: ${errorMessage(error)}`);
  }
}

function parsed<Parsed>(path: string, what: string, parse: () => Parsed): Parsed {
  try {
    return parse();
  } catch (error) {
    throw new StartError(`${path} contains no ${what}: ${errorMessage(error)}`);
  }
}

/** Reads a certificate and its key. Throws `StartError`, which names the file that cannot be used. */
export async function readCertificate(files: CertificateFiles): Promise<CertificatePair> {
  const [cert, key] = await Promise.all([readFileOrFail(files.cert), readFileOrFail(files.key)]);
  const certificate = parsed(files.cert, 'certificate', () => new X509Certificate(cert));
  const privateKey = parsed(files.key, 'private key', () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new StartError(`the key ${files.key} does not belong to the certificate ${files.cert}`);
  }
  return { cert, key };
}

/** Names and addresses under which browsers reach the server. */
function namesOf(host: string): string[] {
  const addresses = Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .flatMap(({ address }) => plainIp(address) ?? []);
  const own = WILDCARDS.has(host) ? [] : [host];
  return [...new Set(['localhost', '127.0.0.1', '::1', ...own, ...addresses])];
}

const endsSoon = (certificate: X509Certificate) => Date.parse(certificate.validTo) - Date.now() < LEAST_DAYS * DAY_MS;

function isCurrent({ cert }: CertificatePair, host: string): boolean {
  const certificate = new X509Certificate(cert);
  if (endsSoon(certificate)) return false;
  if (WILDCARDS.has(host)) return true;
  return (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined;
}

/**
 * Makes a self-signed certificate. The library makes one only for a server of its own, which listens for this moment on
 * any port of this machine.
 */
async function makeCertificate(host: string): Promise<CertificatePair> {
  const { listen } = await import('listhen');
  // The empty ones have defaults otherwise.
  const subject = {
    commonName: 'Service Code',
    organization: 'Service Code',
    organizationalUnit: 'self-signed',
    countryCode: '',
    state: '',
    locality: '',
  };
  const listener = await listen((_request, response) => void response.destroy(), {
    https: {
      ...subject,
      domains: namesOf(host),
      validityDays: VALID_DAYS,
    },
    hostname: '127.0.0.1',
    port: { random: true, host: '127.0.0.1' },
    public: false,
    // No port scan, banner, browser, clipboard, tunnel or handlers of signals.
    isTest: true,
    isProd: false,
    showURL: false,
    open: false,
    clipboard: false,
    tunnel: false,
    autoClose: false,
  });
  await listener.close();
  if (!listener.https) throw new Error('no certificate was made');
  const { cert, key } = listener.https;
  return { cert, key };
}

/** The files of the certificate that servers of the home make. */
export const ownCertificateFiles = (home: string): CertificateFiles => ({
  cert: join(home, 'server', 'tls', 'cert.pem'),
  key: join(home, 'server', 'tls', 'key.pem'),
});

/** Reads the certificate that an earlier server has made, or makes one. Throws `StartError`. */
async function ownCertificate(files: CertificateFiles, host: string): Promise<CertificatePair> {
  const folder = dirname(files.cert);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  const read = async () => {
    const pair = await readCertificate(files).catch(() => undefined);
    return pair && isCurrent(pair, host) ? pair : undefined;
  };
  let pair = await read();
  for (let attempt = 0; !pair && attempt < ATTEMPTS; attempt += 1) {
    const made = await makeCertificate(host);
    await writeFileAtomic(files.key, made.key);
    await writeFileAtomic(files.cert, made.cert);
    pair = await read();
  }
  if (!pair) throw new StartError(`the certificate ${files.cert} cannot be made`);
  await Promise.all([chmod(files.cert, 0o600), chmod(files.key, 0o600)]);
  return pair;
}

/** The options of a server on which its certificate depends. */
export interface CertificateOptions {
  host: string;
  https: HttpsOptions | undefined;
}

/** Reads the given files, or those of the home, which are made if they cannot be used. Throws `StartError`. */
export const loadCertificate = (
  files: CertificateFiles,
  { host, https }: CertificateOptions,
): Promise<CertificatePair> => (https?.files ? readCertificate(files) : ownCertificate(files, host));

export interface CertificateWatch {
  /** Called with each changed pair that can be used. */
  onChanged(pair: CertificatePair): void;
  /** Called once for a change to files that cannot be used; the pair before stays in force. */
  onUnusable(reason: string): void;
}

/**
 * Looks at the files once a second; returns the function that ends it. Files that cannot be used are read again before
 * they are reported: the two are replaced sequentially, here and by programs that renew certificates.
 */
function watchCertificate(files: CertificateFiles, { onChanged, onUnusable }: CertificateWatch): () => void {
  let isEnded = false;
  let warned = false;
  let reading = Promise.resolve();
  async function look(isLast: boolean): Promise<void> {
    clearTimeout(next);
    try {
      onChanged(await readCertificate(files));
      warned = false;
    } catch (error) {
      if (warned || isEnded) return;
      if (isLast) onUnusable(errorMessage(error));
      else next = setTimeout(read, LOOK_MS, true).unref();
      warned = isLast;
    }
  }
  const read = (isLast: boolean) => void (reading = reading.then(() => look(isLast)));
  // Another server may have replaced the files between their reading and the start of the watch, which does not see that.
  let next = setTimeout(read, LOOK_MS, false).unref();
  const paths = [files.cert, files.key];
  const changed = () => read(false);
  for (const path of paths) watchFile(path, { interval: LOOK_MS, persistent: false }, changed);
  return () => {
    isEnded = true;
    clearTimeout(next);
    for (const path of paths) unwatchFile(path, changed);
  };
}

export interface CertificateCare extends CertificateWatch {
  /** Called if the certificate of the home could not be renewed, which is tried again. */
  onNotRenewed(reason: string): void;
}

/**
 * Watches the files, and renews the certificate of the home before it ends, which the watch applies: a server may run
 * for longer. Returns the function that ends both.
 */
export function keepCertificate(
  files: CertificateFiles,
  options: CertificateOptions,
  { onNotRenewed, ...watch }: CertificateCare,
  everyMs = DAY_MS,
): () => void {
  const unwatch = watchCertificate(files, watch);
  if (options.https?.files) return unwatch;
  let isRenewing = false;
  async function renew(): Promise<void> {
    if (isRenewing) return;
    isRenewing = true;
    try {
      const pair = await readCertificate(files);
      // Names are not checked: servers of the home with other bind hosts would replace it in turn.
      if (endsSoon(new X509Certificate(pair.cert))) await loadCertificate(files, options);
    } catch (error) {
      onNotRenewed(errorMessage(error));
    } finally {
      isRenewing = false;
    }
  }
  const timer = setInterval(() => void renew(), everyMs).unref();
  return () => {
    clearInterval(timer);
    unwatch();
  };
}
