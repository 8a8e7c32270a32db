/**
 * Parts that only the built server has: our entry and the page's files. A module and not `$production` in the
 * config, which nitro reads only when NODE_ENV is set; in development a plain `entry` would take the dev worker's place.
 */
import { resolve } from 'node:path';
import type { NitroModule } from 'nitropack/types';

export const productionModule: NitroModule = {
  name: 'production',
  setup(nitro) {
    const { options, hooks } = nitro;
    if (options.dev) return;
    options.entry = resolve(options.rootDir, 'entry.ts');
    // Nitro's runtime and all that it shares with the entry would be one chunk, and creating Nitro's app a part of every
    // start, also of one that only prints a help text.
    hooks.hook('rollup:before', (_nitro, config) => {
      config.output.manualChunks = undefined;
    });
    options.publicAssets.push({
      dir: resolve(options.rootDir, 'web/dist'),
      baseURL: '/',
      fallthrough: true,
      maxAge: 0,
    });
  },
};
