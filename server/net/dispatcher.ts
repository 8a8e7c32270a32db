/** Options of the dispatchers that all requests to other machines go through. */

export interface Timeouts {
  connectMs: number;
  /** From the request sent to the first byte of the answer; 0 is without end. */
  firstByteMs: number;
  /** Between two bytes of the answer; 0 is without end. */
  idleMs: number;
}

/** Proxies come from the environment; loopback never goes through one, or a local server would not be reached. */
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
    // The asterisk counts only where it stands alone.
    noProxy: direct === '*' ? direct : [direct, 'localhost', '127.0.0.1', '[::1]'].filter(Boolean).join(','),
    ...(httpProxy && { httpProxy }),
    ...(httpsProxy && { httpsProxy }),
  };
}
