/**
 * The built server's chunks without comments and indentation, in ASCII alone: Node reads and compiles them at each start,
 * and one character beyond Latin-1 doubles the memory of its chunk's text. Names stay, so that stack traces can be read.
 */
import { transform } from 'esbuild';
import type { NitroModule } from 'nitropack/types';

/** Short enough that line and column of a stack trace lead somewhere. */
const LINE_LENGTH = 120;

/** In front of nitro's chunks. The module reads every member of the global, so it would open standard input. */
const PROCESS_IMPORT = "import process from 'node:process';";

async function compact(code: string): Promise<{ code: string; map: null }> {
  const result = await transform(code.replace(PROCESS_IMPORT, ''), {
    charset: 'ascii',
    lineLimit: LINE_LENGTH,
    minifyWhitespace: true,
    target: 'node20',
  });
  return { code: result.code, map: null };
}

export const compactModule: NitroModule = {
  name: 'compact',
  setup(nitro) {
    if (nitro.options.dev) return;
    nitro.hooks.hook('rollup:before', (_nitro, config) => {
      config.plugins = [config.plugins, { name: 'compact', renderChunk: compact }];
    });
  },
};
