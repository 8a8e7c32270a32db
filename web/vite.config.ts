import vue from '@vitejs/plugin-vue';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

/** Address of the running server for `npx vite web`. */
const server = process.env['SERVICE_CODE_URL'] ?? 'http://127.0.0.1:58627';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // Relative, because the server makes them absolute to the path at which it serves the page.
  base: './',
  plugins: [vue()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
  },
  server: { host: '127.0.0.1', proxy: { '/api': { target: server, ws: true, changeOrigin: true } } },
});
