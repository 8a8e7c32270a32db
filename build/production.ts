/**
 * Settings of only the built server: our entry and the page's files. A module and not `$production` in the config,
 * which nitro reads only when NODE_ENV is set; in development a plain `entry` would take the dev worker's place.
 */
import { resolve } from 'node:path';
import type { NitroModule } from 'nitropack/types';

export const productionModule: NitroModule = {
  name: 'production',
  setup(nitro) {
    const { options } = nitro;
    if (options.dev) return;
    options.entry = resolve(options.rootDir, 'entry.ts');
    options.publicAssets.push({
      dir: resolve(options.rootDir, 'web/dist'),
      baseURL: '/',
      fallthrough: true,
      maxAge: 0,
    });
  },
};
