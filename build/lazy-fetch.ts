/**
 * Nitro's runtime reads the global `Headers` when it loads, and Node then loads its whole HTTP client, a twelfth of the
 * start (14 of 170 ms). The built server takes the entry of `ofetch` without Node's own modules, and reads `Headers` when
 * the first one is created.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { NitroModule } from 'nitropack/types';

const EAGER = 'const Headers = _globalThis.Headers;';
const LAZY = `const Headers = class {
  constructor(init) {
    return new _globalThis.Headers(init);
  }
  static [Symbol.hasInstance](value) {
    return value instanceof _globalThis.Headers;
  }
};`;

/** Replaces the one place; throws if this version of `ofetch` has it no more. */
export function withLazyHeaders(code: string): string {
  if (!code.includes(EAGER)) throw new Error(`ofetch does not say ${EAGER} any more: adapt build/lazy-fetch.ts`);
  return code.replace(EAGER, LAZY);
}

export const lazyFetchModule: NitroModule = {
  name: 'lazy-fetch',
  setup(nitro) {
    if (nitro.options.dev) return;
    const fromNitro = createRequire(createRequire(import.meta.url).resolve('nitropack/package.json'));
    const entry = join(dirname(fromNitro.resolve('ofetch/package.json')), 'dist/index.mjs');
    nitro.hooks.hook('rollup:before', (_nitro, config) => {
      const plugin = {
        name: 'lazy-fetch',
        resolveId: (source: string) => (source === 'ofetch' ? entry : null),
        transform: (code: string, id: string) => (id === entry ? { code: withLazyHeaders(code), map: null } : null),
      };
      config.plugins = [plugin, config.plugins];
    });
  },
};
