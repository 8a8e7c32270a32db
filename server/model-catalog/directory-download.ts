/** Requests the document of the directory. */
import type { Fetch } from '#server/net/http-client.ts';
import { readBounded } from '#server/net/read-bounded.ts';
import { MAX_DIRECTORY_BYTES } from './directory.ts';

const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Returns the decoded body. Throws for a status that is no success, too many redirects and a larger body. */
export async function downloadDirectory(
  url: string,
  { userAgent, signal }: { userAgent: string; signal: AbortSignal },
  { fetch }: { fetch: Fetch },
): Promise<Uint8Array<ArrayBuffer>> {
  const headers = { 'user-agent': userAgent, accept: 'application/json', 'accept-encoding': 'gzip, br' };
  let target = new URL(url);
  for (let followed = 0; ; followed += 1) {
    const response = await fetch(target, { headers, signal });
    const location = response.headers.get('location');
    if (!REDIRECTS.has(response.status) || location === null) {
      if (response.ok) return readBounded(response, MAX_DIRECTORY_BYTES);
      await response.body?.cancel();
      throw new Error(`HTTP ${response.status}`);
    }
    await response.body?.cancel();
    if (followed === MAX_REDIRECTS) throw new Error(`more than ${MAX_REDIRECTS} redirects`);
    const next = new URL(location, target);
    if (next.protocol !== 'https:' && next.protocol !== target.protocol) throw new Error(`a redirect to ${next.protocol}`);
    target = next;
  }
}
