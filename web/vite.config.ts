import vue from '@vitejs/plugin-vue';
import { fileURLToPath } from 'node:url';
import { defaultClientConditions, defineConfig } from 'vite';
import { compressedAssets } from '../build/page-assets.ts';
import { joinedChunks } from '../build/page-chunks.ts';
import { limitedSize } from '../build/page-size.ts';
import { iconSprite } from './ui/sprite.ts';

/** Address of the running server for `npx vite web`. */
const server = process.env['SERVICE_CODE_URL'] ?? 'http://127.0.0.1:58627';

/** The modules that each opened session loads. */
const SESSION =
  /\/web\/(shell\/SessionPanes?|conversation\/ConversationTools|composer\/ChipRow|features\/.*(Strip|Lines|TrustQuestion|GenerateTitle|ApprovalCards|QuestionCards|SubagentCards|GoalChip|PlanSwitch|SwarmSwitch))\.vue$/;

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // Relative, because the server makes them absolute to the path at which it serves the page.
  base: './',
  // The client is bundled from its sources, which need no build.
  resolve: { conditions: ['@service-code/source', ...defaultClientConditions] },
  plugins: [
    vue(),
    iconSprite(),
    joinedChunks([
      { name: 'page', sources: /\/web\/(main\.ts|features\/waiting\/NeedsYou\.vue)$/ },
      { name: 'menus', sources: /\/web\/ui\/Menu\.vue$/ },
      { name: 'session', sources: SESSION },
    ]),
    compressedAssets(),
    limitedSize({
      firstView: { chunks: ['page', 'menus'], bytes: 180_000 },
      session: { chunks: ['session'], bytes: 140_000 },
    }),
  ],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    // They have `light-dark()` and OKLCH, so that no colour is sent twice.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  server: { host: '127.0.0.1', proxy: { '/api': { target: server, ws: true, changeOrigin: true } } },
});
