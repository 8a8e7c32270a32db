/** Downloads an archive into a file. */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { ServiceError } from '#server/errors/service-error.ts';
import { getFollowing, limited, networkReason, statusText, type Requests } from './requests.ts';
import { NotStored, stored } from './stored.ts';

export const MAX_DOWNLOAD_BYTES = 512 * 1024 * 1024;

const failed = (reason: string, cause?: unknown) =>
  new ServiceError('validation.failed', `Failed to download zip: ${reason}`, { cause });

export interface DownloadLimits {
  /** Time limit over all redirects, until the last byte. */
  ms: number;
  maxBytes: number;
}

/**
 * Writes the body to a new file and returns its SHA-256 in hexadecimal digits. Throws `validation.failed` for anything
 * that the host does, and `NotStored`.
 */
export async function downloadTo(
  path: string,
  url: string,
  requests: Requests,
  { ms, maxBytes }: DownloadLimits,
): Promise<string> {
  const file = await stored(open(path, 'wx', 0o600));
  const hash = createHash('sha256');
  try {
    await limited(ms, requests.signal, async (signal) => {
      const response = await getFollowing(url, { ...requests, signal });
      if (!response.ok) {
        await response.body?.cancel();
        throw new Error(`HTTP ${statusText(response)}`);
      }
      let bytes = 0;
      for await (const chunk of response.body ?? []) {
        bytes += chunk.byteLength;
        if (bytes > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
        hash.update(chunk);
        await stored(file.writeFile(chunk));
      }
    });
  } catch (error) {
    requests.signal.throwIfAborted();
    if (error instanceof NotStored) throw error;
    throw failed(networkReason(error), error);
  } finally {
    await file.close();
  }
  return hash.digest('hex');
}
