/** Asks another server of this home to stop its tunnel. */
import { isIP } from 'node:net';
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import { listInstances } from '#server/home/instances.ts';
import { loadUndici } from '#server/net/load-undici.ts';
import { onlyCertificate } from '#server/net/only-certificate.ts';
import { asRecord, tryParseJson } from '#server/text/json.ts';
import type { RemoteConflict } from '#schema/rest/remote-control.ts';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;

/** The home's token is sent to no other machine. */
function isLoopbackOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, origin } = new URL(text);
  const name = hostname.replace(/^\[|\]$/g, '');
  const isLoopback = name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
  return (protocol === 'http:' || protocol === 'https:') && isLoopback && origin === text;
}

/** Path of the certificate with which the server of a document speaks TLS; undefined without one. */
export async function certificateOf(home: string, { pid, local_origin }: RemoteConflict): Promise<string | undefined> {
  const port = Number(URL.canParse(local_origin) ? new URL(local_origin).port : '');
  const instances = await listInstances(home);
  return instances.find((instance) => instance.pid === pid && instance.port === port)?.certificate;
}

export interface StopRequest {
  /** The home's token. */
  token: string;
  /** Path of the only certificate to trust; undefined for those that Node trusts. */
  certificate?: string | undefined;
}

/**
 * Sends the stop to the server of a document that names a live owner of the lock. Without a proxy and without following
 * redirects, because the request carries the home's token. Throws `internal.error`.
 */
export async function requestStop(
  { pid, local_origin }: RemoteConflict,
  { token, certificate }: StopRequest,
): Promise<void> {
  const failure = (reason: string, cause?: unknown) =>
    new ServiceError('internal.error', `The server of process ${pid} did not stop remote control: ${reason}`, {
      cause,
    });
  if (!isLoopbackOrigin(local_origin)) throw failure('it has no address on this machine');
  const undici = await loadUndici();
  const connect =
    certificate === undefined
      ? undefined
      : await onlyCertificate(certificate).catch((error: unknown) => {
          throw failure(`its certificate cannot be read: ${errorMessage(error)}`, error);
        });
  const dispatcher = new undici.Agent({
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    maxResponseSize: MAX_BYTES,
    ...(connect && { connect }),
  });
  try {
    const { statusCode, body } = await dispatcher.request({
      origin: local_origin,
      path: '/api/v1/remote-control',
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ enabled: false }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const code = asRecord(tryParseJson(await body.text()))?.code;
    if (statusCode !== 200 || code !== 0) throw failure(`it answered with status ${statusCode}`);
  } catch (error) {
    throw error instanceof ServiceError ? error : failure(errorMessage(error), error);
  } finally {
    await dispatcher.destroy().catch(() => undefined);
  }
}
