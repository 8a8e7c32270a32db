/** The model directory where there is no app and no threads: settings of the environment, the platform's requests. */
import { systemClock } from '#server/clock.ts';
import { readPinnedAddresses } from '#server/account/cloud-settings.ts';
import { DEFAULT_MODEL_DIRECTORY_URL } from '#server/account/regions.ts';
import { readBounded } from '#server/net/read-bounded.ts';
import { SERVER_VERSION } from '#server/version.ts';
import { createModelDirectory, MAX_DIRECTORY_BYTES, type ModelDirectory } from './directory.ts';
import { readSnapshot } from './snapshot.ts';
import { trimWithPauses } from './trim-directory.ts';

const PRODUCT = 'service-code';

/** Creates the service; nothing is requested before its first use. */
export function createStandaloneDirectory(env: NodeJS.ProcessEnv): ModelDirectory {
  return createModelDirectory({
    url: async () => readPinnedAddresses(env).modelDirectoryUrl ?? DEFAULT_MODEL_DIRECTORY_URL,
    async download(url, signal) {
      const response = await fetch(url, { headers: { 'user-agent': `${PRODUCT}/${SERVER_VERSION}` }, signal });
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      return readBounded(response, MAX_DIRECTORY_BYTES);
    },
    parse: trimWithPauses,
    snapshot: readSnapshot,
    clock: systemClock,
    log: { warn: (message) => process.emitWarning(message) },
  });
}
