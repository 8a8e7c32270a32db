/** Options of the undici dispatchers that all requests to other machines use. */

export interface Timeouts {
  connectMs: number;
  /** Time limit from the sent request to the first byte of the response; 0: no limit. */
  firstByteMs: number;
  /** Between two bytes of the response; 0: no limit. */
  idleMs: number;
}

/** Reads proxies from the environment; loopback always bypasses them, otherwise local servers would be unreachable. */
export function dispatcherOptions({ connectMs, firstByteMs, idleMs }: Timeouts) {
  const env = process.env;
  const all = env.all_proxy ?? env.ALL_PROXY;
  const fallback = all?.startsWith('http') ? all : undefined;
  const httpProxy = env.http_proxy ?? env.HTTP_PROXY ?? fallback;
  const httpsProxy = env.https_proxy ?? env.HTTPS_PROXY ?? fallback;
  const direct = (env.no_proxy ?? env.NO_PROXY)?.trim();
  return {
    connect: { timeout: connectMs },
    headersTimeout: firstByteMs,
    bodyTimeout: idleMs,
    // undici accepts the asterisk only as the sole entry.
    noProxy: direct === '*' ? direct : [direct, 'localhost', '127.0.0.1', '[::1]'].filter(Boolean).join(','),
    ...(httpProxy && { httpProxy }),
    ...(httpsProxy && { httpsProxy }),
  };
}
