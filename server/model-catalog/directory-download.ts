/** Requests the document of the directory. */
import { readBounded } from '#server/net/read-bounded.ts';
import { MAX_DIRECTORY_BYTES } from './directory.ts';
import type { DocumentHostsDeps } from './document-hosts.ts';
import { readDocument } from './get-document.ts';

export interface DirectoryRequest {
  userAgent: string;
  signal: AbortSignal;
}

/** Returns the decoded body. Throws for a status that is no success, refused redirects and a body above 16 MiB. */
export async function downloadDirectory(
  url: string,
  { userAgent, signal }: DirectoryRequest,
  deps: DocumentHostsDeps,
): Promise<Uint8Array<ArrayBuffer>> {
  const headers = { 'user-agent': userAgent, accept: 'application/json', 'accept-encoding': 'gzip, br' };
  const request = { headers, key: '', leavesOrigin: true, signal };
  return readDocument(url, request, deps, async (response) => {
    if (response.ok) return readBounded(response, MAX_DIRECTORY_BYTES);
    await response.body?.cancel();
    throw new Error(`HTTP ${response.status}`);
  });
}
