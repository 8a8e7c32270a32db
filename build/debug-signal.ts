/**
 * SIGUSR1 opens no debugger: it is the first statement of the built server that sees to it. In development the process of
 * `nitro dev` also reports the signal; the thread of the app receives none.
 */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { NitroModule } from 'nitropack/types';
import { reportDebugSignals } from '../server/cli/debugger.ts';

export const debugSignalModule: NitroModule = {
  name: 'debug-signal',
  async setup({ options, hooks, logger }) {
    if (options.dev) {
      const stop = reportDebugSignals((message) => logger.warn(message));
      // A changed configuration sets the modules up again.
      hooks.hookOnce('close', stop);
      return;
    }
    const listener = await readFile(resolve(options.rootDir, 'bin/debug-signal.cjs'), 'utf8');
    hooks.hook('rollup:before', (_nitro, config) => {
      // An import for its side effect alone would be dropped, and one in the entry runs after the modules that it imports.
      config.output.banner = ({ isEntry }: { isEntry: boolean }) => (isEntry ? listener : '');
    });
  },
};
