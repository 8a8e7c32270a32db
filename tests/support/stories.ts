/** Builds the page of the parts (`web/stories/`) and serves it, with the response to its own address only. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import vue from '@vitejs/plugin-vue';
import { build, defaultClientConditions, preview } from 'vite';
import { iconSprite } from '../../web/ui/sprite.ts';

const web = fileURLToPath(new URL('../../web/', import.meta.url));

export async function serveStories() {
  const outDir = await mkdtemp(join(tmpdir(), 'stories-'));
  const shared = {
    configFile: false as const,
    root: join(web, 'stories'),
    base: './',
    resolve: { conditions: ['@service-code/source', ...defaultClientConditions] },
    plugins: [vue(), iconSprite()],
    logLevel: 'error' as const,
  };
  await build({ ...shared, build: { outDir, emptyOutDir: true, assetsInlineLimit: 0 } });
  const server = await preview({ ...shared, build: { outDir }, preview: { host: '127.0.0.1', port: 0 } });
  return {
    url: server.resolvedUrls?.local[0] ?? '',
    async close() {
      await server.close();
      await rm(outDir, { recursive: true, force: true });
    },
  };
}
