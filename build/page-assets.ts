/** Plugin of the page's build: writes a `.br` and a `.gz` file next to each text asset, from which the server chooses. */
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Plugin } from 'vite';

/** Smaller files gain less than the headers cost. */
const LEAST_BYTES = 1024;
const TEXT = /\.(js|css|svg|json)$/;

const compressors = {
  '.br': (content: Buffer) =>
    promisify(brotliCompress)(content, {
      params: {
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
      },
    }),
  '.gz': (content: Buffer) => promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }),
};

async function compressFile(path: string): Promise<void> {
  const content = await readFile(path);
  if (content.length < LEAST_BYTES) return;
  await Promise.all(
    Object.entries(compressors).map(async ([suffix, compress]) => writeFile(path + suffix, await compress(content))),
  );
}

export const compressedAssets = (): Plugin => ({
  name: 'compressed-assets',
  apply: 'build',
  async writeBundle({ dir = '' }) {
    const names = await readdir(dir, { recursive: true });
    await Promise.all(names.filter((name) => TEXT.test(name)).map((name) => compressFile(join(dir, name))));
  },
});
