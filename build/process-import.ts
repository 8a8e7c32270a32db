/**
 * Nitro prepends `import process from 'node:process'` to the built server's chunks. That module reads every member of the
 * global `process`, and reading `process.stdin` opens standard input; the global needs no import.
 */
import type { NitroModule } from 'nitropack/types';

const PROCESS_IMPORT = "import process from 'node:process';";

export const processImportModule: NitroModule = {
  name: 'process-import',
  setup(nitro) {
    if (nitro.options.dev) return;
    nitro.hooks.hook('rollup:before', (_nitro, config) => {
      const renderChunk = (code: string) => ({ code: code.replace(PROCESS_IMPORT, ''), map: null });
      config.plugins = [config.plugins, { name: 'process-import', renderChunk }];
    });
  },
};
