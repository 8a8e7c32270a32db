import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { withLazyHeaders } from '../../../build/lazy-fetch.ts';

it('defers the global `Headers` of the installed ofetch, and says when a version has it elsewhere', async () => {
  const fromNitro = createRequire(createRequire(import.meta.url).resolve('nitropack/package.json'));
  const entry = join(dirname(fromNitro.resolve('ofetch/package.json')), 'dist/index.mjs');
  const code = withLazyHeaders(await readFile(entry, 'utf8'));
  expect(code).toContain('new _globalThis.Headers(init)');
  expect(code).not.toContain('Headers = _globalThis.Headers');
  expect(() => withLazyHeaders('export const Headers = 1;')).toThrow('adapt build/lazy-fetch.ts');
});
